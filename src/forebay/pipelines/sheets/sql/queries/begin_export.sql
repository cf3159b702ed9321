-- This transaction reads as many rows as there are, in their order, while each statement stays bounded. Who reads all rows of a
-- large job would be given a scan and a sort of it: that would keep the first row back until the last is read.
select set_config('enable_seqscan', 'off', true), set_config('enable_sort', 'off', true),
       set_config('enable_bitmapscan', 'off', true), set_config('jit', 'off', true),
       case when current_setting('server_version_num')::int >= 170000 then set_config('transaction_timeout', '0', true) end
