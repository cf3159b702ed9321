"""Typed calls of the engine's SQL."""
