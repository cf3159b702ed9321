-- Whether this session has the role $1, and whether row-level security applies to it (null: there is no table yet).
select current_user = cast($1 as text) as is_role, row_security_active(to_regclass('forebay.job')) as is_guarded
