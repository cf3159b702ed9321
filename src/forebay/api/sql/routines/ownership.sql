-- Declares whose the rows of the API's tables are, and what the roles of the service may do with them.
select forebay.own('idempotency'), forebay.own('webhook_delivery');
