"""A fleet: dispatchers, which have the database, offer leased tasks to runners, which have none, through a broker."""
