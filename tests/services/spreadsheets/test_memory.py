"""Files of any size in a child that may have little memory."""

from __future__ import annotations

import subprocess
import sys

import pytest

_LIMITED = """
import io, itertools, resource
from pathlib import Path
from forebay.errors import DataError
from forebay.services.spreadsheets import *
from forebay.services.spreadsheets.reading import *
class Endless(io.RawIOBase):
    '''A large file that is nowhere: a beginning, a part that repeats, an end.'''
    def __init__(self, head, part, times, tail):
        self.at, self.head, self.part, self.tail = 0, head, part, tail
        self.middle = len(part) * times
        self.size = len(head) + self.middle + len(tail)
    def seekable(self): return True
    def readable(self): return True
    def seek(self, to, whence=0):
        self.at = to + (0, self.at, self.size)[whence]
        return self.at
    def readinto(self, buffer):
        at, n = self.at, len(buffer)
        if at < len(self.head): data = self.head[at:at + n]
        elif at < len(self.head) + self.middle:
            begin = (at - len(self.head)) % len(self.part)
            data = (self.part * (n // len(self.part) + 2))[begin:begin + min(n, len(self.head) + self.middle - at)]
        else: data = self.tail[at - len(self.head) - self.middle:][:n]
        buffer[:len(data)] = data
        self.at += len(data)
        return len(data)
def told(*args):
    file = io.BufferedReader(Endless(*args), 1 << 18)
    with read_rows(file, look_at(file)) as reader:
        for row in reader: yield row
status = Path("/proc/self/status").read_text()
now = int(status.partition("VmData:")[2].split()[0]) << 10
resource.setrlimit(resource.RLIMIT_DATA, (now + (64 << 20), now + (64 << 20)))
"""

_CASES = {
    "a line of a gigabyte": (
        """
rows = list(told(b"a,b\\n1,2\\n", b"x" * 1024, 1 << 20, b"\\n3,4\\n"))
assert [row.line for row in rows] == [2, 3, 4], rows
print(rows[1].reason)
""",
        "is longer than 4 MiB",
    ),
    "ten million columns": (
        """
try: look_at(io.BufferedReader(Endless(b"", b"a,", 10_000_000, b"\\n1,2\\n")))
except DataError as error: print(error)
""",
        "line 1 is longer than 4 MiB",
    ),
    "a row of ten million cells": (
        """
rows = list(told(b"a,b\\n1,2\\n", b"1,", 10_000_000, b"\\n3,4\\n"))
assert [row.line for row in rows] == [2, 3, 4], rows
print(rows[1].reason)
""",
        "is longer than 4 MiB",
    ),
    "a million rows": (
        """
print(sum(isinstance(row, Row) for row in told(b"name,n\\n", b"a row of some length,1\\n", 1_000_000, b"")))
""",
        "1000000",
    ),
    "a quote that is never closed": (
        """
rows = told(b'a,b\\n1,"x\\n', b"text,1\\n", 1_000_000, b"")
print(next(rows).reason, sum(isinstance(row, Row) for row in rows))
""",
        "has a quote that is not closed within 10000 lines or 4 MiB 1000000",
    ),
    "a workbook written and read": (
        """
import tempfile
with tempfile.TemporaryFile() as file:
    made = XlsxFile(["n", "text", "more"])
    for n in range(0, 200_000, 1000):
        file.write(made.write((i, f"text {i}", "more text & more") for i in range(n, n + 1000)))
    file.write(made.close())
    with read_rows(file, look_at(file)) as reader:
        print(sum(isinstance(row, Row) for row in reader))
""",
        "200000",
    ),
    "a workbook of strings that cells share": (
        """
import tempfile
from tests.services.spreadsheets._tables import workbook
import random, zipfile
def text(n): return "x" + random.Random(n).randbytes(500).hex()
with tempfile.TemporaryFile() as file:
    with zipfile.ZipFile(io.BytesIO(workbook("", strings=""))) as source, zipfile.ZipFile(file, "w", 8) as made:
        for entry in source.infolist():
            if "sheet1" not in entry.filename and "Strings" not in entry.filename:
                made.writestr(entry, source.read(entry))
        with made.open("xl/sharedStrings.xml", "w") as out:
            out.write(b"<sst>")
            for n in range(100_000): out.write(f"<si><t>{text(n)}</t></si>".encode())
            out.write(b"</sst>")
        with made.open("xl/worksheets/sheet1.xml", "w") as out:
            out.write(b"<worksheet><sheetData>")
            for n in range(100_000): out.write(f'<row><c t="s"><v>{n}</v></c></row>'.encode())
            out.write(b"</sheetData></worksheet>")
    with read_rows(file, look_at(file, header=False)) as reader:
        print(sum(row.cells["column 1"] == text(row.line - 1) for row in reader))
""",
        "100000",
    ),
}


# These take long; what they show is seen of the whole intake, too, by test_sheet_hostile and test_sheet_soak.
_LONG = ("a workbook of strings that cells share", "a quote that is never closed", "a workbook written and read")


@pytest.mark.parametrize(
    "case", [pytest.param(case, marks=pytest.mark.soak) if case in _LONG else case for case in _CASES]
)
def test_memory_is_bounded(case: str) -> None:
    script, expected = _CASES[case]
    command = [sys.executable, "-c", f"import sys; sys.path.insert(0, '.')\n{_LIMITED}{script}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=240)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == expected
