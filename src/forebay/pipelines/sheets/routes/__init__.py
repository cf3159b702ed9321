"""HTTP routes of sheets, uploads, sources, exports and catalogues."""
