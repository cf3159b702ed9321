-- Whether the caller may see share $1.
select exists (select from forebay.share s where s.id = $1)
