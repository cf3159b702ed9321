-- Deletes old deliveries; returns how many.
select forebay.tidy_deliveries()
