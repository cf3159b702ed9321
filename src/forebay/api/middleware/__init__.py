"""Middleware for every request: limits, headers, proxies, traces."""
