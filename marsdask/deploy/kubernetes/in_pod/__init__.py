"""Actions of a supervisor inside its pod, with the rights of its service account."""
