"""The declarative API: pipelines, steps, policies, resources and limited functions."""
