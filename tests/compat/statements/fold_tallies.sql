-- Folds tallies.
select forebay.fold_tallies()
