"""Reads and writes files of rows as streams: CSV, XLSX and archives of images, from untrusted sources.

Detect the layout of a file once, store it, and read rows from any cursor on:

    layout = look_at(path)
    with read_rows(path, layout, start) as reader:
        batch = reader.take(500)        # Cells(lines, rows, bad, next, is_last); next is the cursor to continue from
        # batch.lines[i] is the line of batch.rows[i], a list of cells in the order of layout.columns;
        # take(reader, 500) returns rows by column name, which is slower: RowBatch(rows, next, is_last)

Write a file in pieces; the same rows give the same bytes:

    file = XlsxFile(columns)            # or CsvFile(columns)
    data = file.write(rows) + file.write(more) + file.close()
"""

from forebay.services.spreadsheets.archives import PICTURES, ArchivePicture, opened, pictures, read_picture
from forebay.services.spreadsheets.cells import cell_text, escaped, unescaped
from forebay.services.spreadsheets.csv_file import CsvLayout
from forebay.services.spreadsheets.kinds import Detected, FileKind, detect
from forebay.services.spreadsheets.reading import Layout, look_at, read_rows
from forebay.services.spreadsheets.rows import AnyRow, BadRow, Cells, Cursor, Row, RowBatch, RowReader, take
from forebay.services.spreadsheets.writing import MEDIA_TYPES, CsvFile, FileFormat, header_of
from forebay.services.spreadsheets.xlsx_file import XlsxLayout
from forebay.services.spreadsheets.xlsx_writing import XlsxFile

__all__ = [
    "MEDIA_TYPES",
    "PICTURES",
    "AnyRow",
    "ArchivePicture",
    "BadRow",
    "Cells",
    "CsvFile",
    "CsvLayout",
    "Cursor",
    "Detected",
    "FileFormat",
    "FileKind",
    "Layout",
    "Row",
    "RowBatch",
    "RowReader",
    "XlsxFile",
    "XlsxLayout",
    "cell_text",
    "detect",
    "escaped",
    "header_of",
    "look_at",
    "opened",
    "pictures",
    "read_picture",
    "read_rows",
    "take",
    "unescaped",
]
