"""Submitting work in the caller's transaction, and looking at what became of it."""
