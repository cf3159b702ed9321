"""Search: one index over the texts of all pipelines, by words and by meaning.

    put_document ──► search_document ──► job of `index` ──► chunks ──► model ──► search_chunk
                          │ words (tsvector)                            vectors (pgvector, HNSW) │
                          └──────────────► find: reciprocal rank fusion ◄────────────────────────┘

A pipeline puts its documents with `documents.put_document`, or the SQL function, in the transaction that writes their
content. Without the extension `vector`, or without a model, documents are found by their words.
"""
