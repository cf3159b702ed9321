"""The routes of searches."""
