-- Deletes old deliveries; answers how many.
select forebay.tidy_deliveries()
