"""Blobs: contents of files, each stored once, in a folder or in S3."""

from forebay.storage.blobs import Blobs, BlobSource, Stored, forgetting
from forebay.storage.cleaning import clean
from forebay.storage.store import Store, open_store

__all__ = ["BlobSource", "Blobs", "Store", "Stored", "clean", "forgetting", "open_store"]
