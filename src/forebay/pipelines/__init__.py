"""The built-in pipelines, one package each: see `forebay.packages`."""
