-- Where lists find the title, brand and SKU of a job's items, for pipelines that keep them elsewhere in the input: by each of
-- these names a path, written as an array, as in {"title": "{row,Name}"}.
alter table forebay.job add column summary_paths jsonb;
