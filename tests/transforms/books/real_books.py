"""The real books that tests read; see tests/tools/real_data.py."""

import csv
import gzip
from collections.abc import Mapping

from tests.tools.real_data import DATA

Row = Mapping[str, str]
"""Of books.tsv, by column."""


def book_rows() -> list[Row]:
    """Returns the rows of each file, in the order of books.tsv. A book may have several."""
    with (DATA / "gutenberg/books.tsv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def read_text(row: Row) -> str:
    """The whole file, decoded, with LF as line end."""
    data = gzip.decompress((DATA / "gutenberg" / row["file"]).read_bytes())
    text = data.decode("cp1252" if row["enc"].startswith("latin-1") else row["enc"], "replace")
    return text.lstrip("\ufeff").replace("\r\n", "\n")
