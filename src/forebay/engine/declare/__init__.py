"""What users write: pipelines, steps, policies, resources, limited functions."""
