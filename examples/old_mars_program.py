"""A program as it was written for Mars; ``python -m marsdask.compat`` runs it unchanged."""

import mars
import mars.dataframe as md
import mars.remote as mr
import mars.tensor as mt


def calculate(x: int) -> int:
    """Return the double."""
    return x * 2


mars.new_session()
a = mt.ones((200, 200), chunk_size=100)
print("  inner:", mt.inner(a, a).execute()[0, 0].fetch())
print("  sum of a column:", md.DataFrame(a).sum().execute().fetch()[0])

view = a[:1]
view[0, :3] = 7  # Mars's views share elements
print("  sum after a write to a view:", a.sum().execute().fetch())
print("  a function:", mr.spawn(calculate, args=(21,)).execute().fetch())
mars.stop_server()
