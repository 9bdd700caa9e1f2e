"""scikit-learn's estimators over tensors and frames: import what is needed, as of scikit-learn.

``from marsdask.learn.cluster import KMeans``; nothing heavy is loaded before.
"""
