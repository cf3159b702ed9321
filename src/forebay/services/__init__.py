"""Services for pipelines. They are independent of each other, of the engine and of the database."""
