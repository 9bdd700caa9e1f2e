"""``mars.contrib``: what Mars had for other libraries."""
