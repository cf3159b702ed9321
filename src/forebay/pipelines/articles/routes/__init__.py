"""The routes of articles."""
