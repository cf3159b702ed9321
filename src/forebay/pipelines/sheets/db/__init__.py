"""Sheets, catalogues and grids in the database."""
