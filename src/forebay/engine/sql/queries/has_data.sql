-- Whether any job, user or bookmark is known here.
select exists (select from forebay.job) or exists (select from forebay.account) or exists (select from forebay.bookmark)
