"""HTTP routes of bookmarks."""
