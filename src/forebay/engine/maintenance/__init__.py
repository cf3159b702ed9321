"""What is repeated on a schedule: the sweep, retention, cron."""
