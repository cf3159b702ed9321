-- Deletes sheets whose jobs are gone, and uploads that nobody continues; returns which objects are to be deleted.
select t.sheets, t.objects from forebay.tidy_sheets($1, $2) t
