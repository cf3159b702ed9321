-- Jobs of this transaction keep the name $1 of the file that they are made of; it may take as long as the file is long, while
-- each statement stays bounded.
select set_config('forebay.file', $1, true),
       case when current_setting('server_version_num')::int >= 170000 then set_config('transaction_timeout', '0', true) end
