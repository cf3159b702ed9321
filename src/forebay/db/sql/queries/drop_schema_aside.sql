-- Drops the former schema after a restore. A check has shown that no object outside depends on it.
drop schema forebay_aside cascade;
