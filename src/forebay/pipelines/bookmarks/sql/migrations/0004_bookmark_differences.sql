-- The difference between the page before and after a change; null for changes that were recorded by earlier versions.

alter table forebay.bookmark_change add column difference text;
