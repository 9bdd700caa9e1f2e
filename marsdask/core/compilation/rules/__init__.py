"""Rules that rewrite a graph of nodes, by phase."""
