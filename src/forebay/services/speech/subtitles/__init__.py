"""Transcripts as files.

writing     SRT, WebVTT, text and JSON, with short captions
reading     finds out the format: SRT, WebVTT, json3, TTML and its relatives, our JSON
captions    splits segments into captions that can be read in time
rolling     removes what rolling captions repeat
"""
