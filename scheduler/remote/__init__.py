"""The client's side of a supervisor."""
