"""The engines that run relations on columns."""
