-- after the routines: a trigger of theirs tells the jobs of the sheets that are there which columns hold what lists show.
update forebay.sheet set mapping = mapping where mapping is not null;
