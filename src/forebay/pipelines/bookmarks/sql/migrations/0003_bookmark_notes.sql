-- What the owner of a bookmark should know though its steps have ended well, by step: that the page was cut, and so on.
-- formerly 0019

alter table forebay.bookmark add column notes jsonb not null default '{}';
