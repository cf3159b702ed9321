-- The readable text of a page with its structure: headings, paragraphs, lists, quotes, code, tables and pictures.

alter table forebay.bookmark add column blocks jsonb;
