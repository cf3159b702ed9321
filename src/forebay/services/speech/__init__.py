"""Speech to text, with local models or an OpenAI-compatible service, and transcripts as files.

transcript    segments and words with their times
models        where the local model is, and what is missing
audio         decodes a recording piece by piece; pieces end in silence
recognition   the functions that run in limited processes
endpoint      the service, if one is configured
subtitles     SRT, WebVTT, JSON and text, written; those, json3 and TTML, read
"""
