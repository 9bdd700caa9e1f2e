"""What a grid of chunks is, and the rules by which its chunks are made."""
