"""Why work waits: for an item, a job or a queue, the reasons in order, each with its facts and what can be done."""
