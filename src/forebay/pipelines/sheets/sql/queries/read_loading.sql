-- What a catalogue's load must know of its sheet: which column is which field, and which catalogue it goes into.
select s.mapping, s.options ->> 'catalogue' as catalogue from forebay.sheet s where s.job_id = $1
