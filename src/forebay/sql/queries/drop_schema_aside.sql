-- Drops what was there before a backup was read.
drop schema forebay_aside cascade;
