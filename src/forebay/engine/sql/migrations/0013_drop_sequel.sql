-- after the routines: none of them uses it any more.
drop type forebay.sequel;
