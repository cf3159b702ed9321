-- Protects accounts and secrets: only forebay_identity reads them.
select forebay.permit('select, insert, update, delete', t, 'forebay_identity')
from unnest('{account,session,api_token,invitation,sign_in_failure}'::text[]) t;
select forebay.add_policy('account', 'of_identity', 'to forebay_identity using (true)');

-- Workers delete expired rows; they can read only the expiry.
select forebay.permit('delete, select (expires_at)', t, 'forebay_worker') from unnest('{session,invitation}'::text[]) t;
select forebay.permit('delete, select (last_at)', 'sign_in_failure', 'forebay_worker');
