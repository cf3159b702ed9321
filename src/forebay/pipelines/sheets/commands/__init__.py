"""Commands of sheets."""
