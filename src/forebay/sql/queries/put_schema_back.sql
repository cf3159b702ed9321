-- Undoes that: the backup could not be read, and has left nothing.
alter schema forebay_aside rename to forebay;
