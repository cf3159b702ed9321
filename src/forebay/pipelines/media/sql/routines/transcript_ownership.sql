-- Declares the owners of pieces of transcripts, which only workers use.
select forebay.own('transcript_piece', 'select, delete');
