"""Submitting work in the caller's transaction, and reading its results."""
