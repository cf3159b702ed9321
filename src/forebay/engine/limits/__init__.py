"""Rate and concurrency limits over all workers."""
