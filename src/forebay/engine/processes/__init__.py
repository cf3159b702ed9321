"""Child processes that run process steps and limited functions."""
