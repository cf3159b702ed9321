-- Prepares the transaction to read any number of rows in order with bounded statements. For all rows of a large job the planner
-- would choose a scan and a sort, which return the first row only after reading the last.
select set_config('enable_seqscan', 'off', true), set_config('enable_sort', 'off', true),
       set_config('enable_bitmapscan', 'off', true), set_config('jit', 'off', true),
       case when current_setting('server_version_num')::int >= 170000 then set_config('transaction_timeout', '0', true) end
