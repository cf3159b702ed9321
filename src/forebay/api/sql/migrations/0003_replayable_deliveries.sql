-- Sources that sign no time, as GitHub, accept a copy of a request for ever: their deliveries are kept for ever.
-- Deliveries from before do not tell what their source signs, so that they are kept, too.
alter table forebay.webhook_delivery add column kept_until timestamptz not null default 'infinity';
drop index forebay.webhook_delivery_age;
create index webhook_delivery_end on forebay.webhook_delivery (kept_until) where kept_until < 'infinity';
