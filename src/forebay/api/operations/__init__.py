"""What operators see: the overview, series, and what is counted for them."""
