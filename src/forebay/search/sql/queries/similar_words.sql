-- Words of documents that are similar to those of $1 that no document has.
select s.word, s.similar_word from forebay.similar_words($1::text[]) s
