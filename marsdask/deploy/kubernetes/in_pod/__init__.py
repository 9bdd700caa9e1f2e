"""What a supervisor does from inside its pod, with the rights of its service account."""
