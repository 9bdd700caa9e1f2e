"""Results: what a session computes, what it keeps, and nodes that stand for either."""
