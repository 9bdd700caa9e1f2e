"""scikit-learn's Pipeline of our estimators on a real table, in memory and lazily.

Scales the measurements of the breast cancer table, finds two components and clusters the samples;
every step runs over chunks, and the result is scikit-learn's own.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
from sklearn import cluster, decomposition, preprocessing
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import adjusted_rand_score
from sklearn.pipeline import Pipeline, make_pipeline

import marsdask.dataframe as md
from marsdask.learn.cluster import KMeans
from marsdask.learn.decomposition import PCA
from marsdask.learn.preprocessing import StandardScaler


def steps(scaler: Any, pca: Any, kmeans: Any) -> Pipeline:
    """Return the pipeline of three kinds of estimators."""
    return make_pipeline(scaler(), pca(n_components=2), kmeans(n_clusters=2, random_state=0))


def main() -> None:
    """Fit both pipelines and compare them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chunk-size", type=int, default=100)
    chunk_size = parser.parse_args().chunk_size

    data, target = load_breast_cancer(return_X_y=True, as_frame=True)
    frame = md.DataFrame(data, chunk_size=chunk_size)

    ours = steps(StandardScaler, PCA, KMeans).fit(frame)
    labels = ours.predict(frame)  # lazy: nothing has run yet
    theirs = steps(preprocessing.StandardScaler, decomposition.PCA, cluster.KMeans).fit(data)
    np.testing.assert_array_equal(labels.compute(), theirs.predict(data))

    shares = ours["pca"].explained_variance_ratio_
    print(f"{frame.shape[1]} columns, of which two components explain {shares.sum():.0%}")
    score = adjusted_rand_score(target, labels.compute())
    print(f"the clusters agree with the diagnosis: adjusted Rand index {score:.2f}")
    print(frame.shape, "samples, labelled as scikit-learn labels them")


if __name__ == "__main__":
    main()
