"""Rate and concurrency limits across all workers."""
