-- Why instance $1 cannot go on.
update forebay.attachment_instance set problem = $2 where id = $1
