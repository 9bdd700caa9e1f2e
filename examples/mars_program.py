"""A program for Mars: only the imports name marsdask.

Estimates pi by Monte Carlo, then says in which row of a frame the numbers were largest.
"""

from __future__ import annotations

import argparse
import math

import marsdask as mars
import marsdask.dataframe as md
import marsdask.tensor as mt
from marsdask.session import new_session


def main() -> None:
    """Estimate pi, and work with a tensor as a frame."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--points", type=int, default=4_000_000)
    points = parser.parse_args().points

    session = new_session().as_default()

    mt.random.seed(0)
    a = mt.random.uniform(-1, 1, size=(points, 2))
    pi = ((mt.linalg.norm(a, axis=1) < 1).sum() * 4 / points).execute()
    print(f"pi is about {pi.fetch():.4f}")
    assert abs(pi.fetch() - math.pi) < 10 / math.sqrt(points)

    # Sorting is a real sort, iloc works on rows, and several results run as one graph.
    largest = mt.sort(a[:, 0])[-3:]
    frame = md.DataFrame(a, columns=["x", "y"])
    frame["r"] = frame["x"] * frame["x"] + frame["y"] * frame["y"]
    outside = frame[frame["r"] > 1]
    mars.ExecutableTuple([largest, outside]).execute()
    print("the largest abscissas:", largest.fetch())
    print(f"{len(outside)} points outside of the circle, the first of them:")
    print(outside.iloc[:3].execute().fetch())

    session.close()


if __name__ == "__main__":
    main()
