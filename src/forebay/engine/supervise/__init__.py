"""Several worker processes under one supervisor, and what their reports say about the health of the system."""
