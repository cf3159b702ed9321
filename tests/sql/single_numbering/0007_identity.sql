-- Sessions and links get names that may be shown: lists name them, and they are ended by them.
alter table forebay.session add column id bigint generated always as identity unique;
alter table forebay.invitation add column id bigint generated always as identity unique;
