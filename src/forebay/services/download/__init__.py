"""Resumable downloads into a partial file that outlives an attempt, hashed while writing, with limits.

    async with open_partial(path) as partial:
        done = await download(http, FetchRequest(url, "notes.fetch", max_bytes, timeout), partial)
        stored = await blobs.adopt(done.path, sha256=done.sha256, ...)
        partial.discard()

`partial_file` and `receiving` serve any source; `resuming` has `download` and needs the extra `web`.
"""
