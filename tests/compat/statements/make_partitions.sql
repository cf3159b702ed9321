-- Makes partitions ahead.
select cardinality(forebay.make_partitions($1))
