"""Typed calls of the SQL of sheets, catalogues and grids."""
