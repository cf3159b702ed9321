-- The pieces of an upload that came whole, in their order.
select p.start, p.size, p.name::text as name from forebay.sheet_piece p
where p.sheet_id = $1 and p.size is not null order by p.start, p.created_at
