-- Declares the owners of documents and of what is derived from them, and the rights of the service's roles.
select forebay.own('search_document'), forebay.own('search_indexed', 'select'), forebay.own('search_word', 'select'),
       forebay.own('saved_search');
select forebay.permit('select', 'search_model', 'forebay_api', 'forebay_admin', 'forebay_worker'),
       forebay.permit('update', 'search_model', 'forebay_admin', 'forebay_worker'),
       forebay.permit('select, insert, update, delete', 'search_backfill', 'forebay_worker'),
       forebay.permit('select', 'search_backfill', 'forebay_admin');
do $$ begin
    if forebay.has_vectors() then
        perform forebay.own('search_chunk', 'select');
    end if;
end $$;
