-- What the voucher of instance $1 says of its files.
select a.name, a.status, a.size, encode(a.sha256, 'hex') as sha256, a.media_type, a.downloaded_at, a.error
from forebay.attachment a where a.instance_id = $1 order by a.id
