"""Prometheus metrics and service statistics."""
