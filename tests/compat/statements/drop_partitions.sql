-- Drops old partitions.
select cardinality(forebay.drop_partitions($1, $2))
