-- Declares the owners of rows in the API's tables, and the rights of the service's roles.
select forebay.own('idempotency'), forebay.own('webhook_delivery'), forebay.own('preferences', worker_rights => 'select');
