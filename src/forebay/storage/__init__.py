"""Blobs: the contents of files, each stored once, in a folder or in S3."""

from forebay.storage.blobs import Blobs, BlobSource, Stored, delete_statement
from forebay.storage.cleaning import clean
from forebay.storage.store import Store, open_store

__all__ = ["BlobSource", "Blobs", "Store", "Stored", "clean", "delete_statement", "open_store"]
