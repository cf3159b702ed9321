-- Runs ended items again, on behalf of $5 (null: the database's user); returns how many.
select forebay.reprocess(
    cast($1 as bigint), cast($2 as text[]), cast($3 as int[]), cast($4 as boolean), coalesce(cast($5 as text), current_user),
    restart => cast($6 as boolean))
