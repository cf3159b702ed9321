-- Declares whose the articles are.
select forebay.own('article'), forebay.own('article_version'), forebay.own('article_draft'), forebay.own('article_task');
