"""The pipelines that come with forebay, each a package of its own: see `forebay.packages`."""
