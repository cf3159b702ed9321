"""What pipelines use of the world: each service stands alone, and knows neither the engine nor the database."""
