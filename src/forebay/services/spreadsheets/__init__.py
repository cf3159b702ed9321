"""Files of rows in and out: CSV, XLSX and archives of pictures, as streams, from untrusted sources.

Look at a file once, keep the layout, and read rows from any place on:

    layout = look_at(path)
    with read_rows(path, layout, start) as reader:
        batch = reader.take(500)        # Cells(lines, rows, bad, next, is_last); next is where to go on after a crash
        # batch.lines[i] is the line of batch.rows[i], the list of its cells in the order of layout.columns;
        # take(reader, 500) gives the same as rows with names, slower: Batch(rows, next, is_last)

Write one piece by piece; the same rows make the same bytes:

    file = XlsxFile(columns)            # or CsvFile(columns)
    data = file.write(rows) + file.write(more) + file.close()
"""

from forebay.services.spreadsheets.archives import PICTURES, ArchivePicture, opened, pictures, read_picture
from forebay.services.spreadsheets.cells import cell_text, escaped, unescaped
from forebay.services.spreadsheets.csv_file import CsvLayout
from forebay.services.spreadsheets.kinds import Detected, FileKind, detect
from forebay.services.spreadsheets.reading import Layout, look_at, read_rows
from forebay.services.spreadsheets.rows import AnyRow, BadRow, Batch, Cells, Cursor, Row, RowReader, take
from forebay.services.spreadsheets.writing import MEDIA_TYPES, CsvFile, FileFormat, header_of
from forebay.services.spreadsheets.xlsx_file import XlsxLayout
from forebay.services.spreadsheets.xlsx_writing import XlsxFile

__all__ = [
    "MEDIA_TYPES",
    "PICTURES",
    "AnyRow",
    "ArchivePicture",
    "BadRow",
    "Batch",
    "Cells",
    "CsvFile",
    "CsvLayout",
    "Cursor",
    "Detected",
    "FileFormat",
    "FileKind",
    "Layout",
    "Row",
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
