"""The metrics of the service, as Prometheus reads them at /metrics and administrators at /api/statistics."""
