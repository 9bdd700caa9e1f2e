"""Views: tensors that share elements, and the memory that NumPy's arrays would have."""
