"""The routes of media."""
