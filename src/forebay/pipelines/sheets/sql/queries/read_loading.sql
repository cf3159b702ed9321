-- Reads what loading a catalogue needs of its sheet: the mapping of columns and the name of the catalogue.
select s.mapping, s.options ->> 'catalogue' as catalogue from forebay.sheet s where s.job_id = $1
