-- What the form of instance $1 says: title $2, state $3, facts $4, files $5, skipped $6; it was read for the delivery of $7.
with changed as (
    update forebay.attachment_instance i set title = coalesce($2, i.title), state = coalesce($3, i.state), facts = $4::jsonb, skipped = $6,
        seen_at = $7, read_at = clock_timestamp(), problem = null
    where i.id = $1
    returning i.owner_id, i.id)
select forebay.add_attachments(c.owner_id, c.id, $5::jsonb) from changed c
