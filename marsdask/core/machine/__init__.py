"""The machine that tasks run on: what kernels cost, and the sizes of blocks that fit it."""
