-- Declares that the rows of a table belong to owners: forebay_api sees and changes only those of the owner in
-- forebay.owner_id, forebay_admin and forebay_worker all.
-- rights: of forebay_api and forebay_admin; worker_rights: of workers. Call it in the routines of the schema part that has the
-- table: it runs again when an administrator has created missing roles.
create or replace function forebay.own(
    tab text, rights text default 'select, insert, update, delete',
    worker_rights text default 'select, insert, update, delete', owner_column text default 'owner_id'
) returns void language plpgsql as $$
begin
    perform forebay.add_policy(tab, 'of_owner', format(
        'to forebay_api using (%I = (select nullif(current_setting(''forebay.owner_id'', true), '''')::bigint))', owner_column));
    perform forebay.add_policy(tab, 'of_all', 'to forebay_admin, forebay_worker using (true)');
    perform forebay.permit(rights, tab, 'forebay_api', 'forebay_admin');
    perform forebay.permit('select', tab, 'forebay_admin');
    perform forebay.permit(worker_rights, tab, 'forebay_worker');
end $$;
