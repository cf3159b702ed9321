"""What holds for every request: limits, headers, proxies, traces."""
