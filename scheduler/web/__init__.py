"""What reaches the cluster over HTTP."""
