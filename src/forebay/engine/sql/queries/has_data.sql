-- Whether any owner has a job, an account or anything else here.
select forebay.has_data()
