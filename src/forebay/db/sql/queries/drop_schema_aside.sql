-- Drops what was there before a backup was read. Nothing outside of it depends on it by now: that was looked at before.
drop schema forebay_aside cascade;
