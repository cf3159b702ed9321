-- Writes the chunks of version $3 of document $1 by model $2; the parameters are those of write_chunks().
select forebay.write_chunks($1, $2, $3, $4::bytea[], $5::int[], $6::int[], $7::real[], $8::int[], $9::real[], $10)
