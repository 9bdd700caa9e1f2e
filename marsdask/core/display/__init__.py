"""What people see of collections: text, notebooks, progress."""
