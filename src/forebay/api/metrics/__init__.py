"""The metrics of the service, for Prometheus at /metrics and for administrators at /api/statistics."""
