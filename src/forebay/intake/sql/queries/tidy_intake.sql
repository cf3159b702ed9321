-- Ends uploads that nobody continues, and deletes files whose jobs are gone; returns which objects are to be deleted.
select t.files, t.objects from forebay.tidy_intake($1, $2, $3, $4) t
