-- Whether any owner has a job, an account or other data.
select forebay.has_data()
