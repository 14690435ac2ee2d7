"""Real books, cut crudely, for tests and benchmarks that need no more than much text with overlaps."""

import gzip
import re
from pathlib import Path

from tests.tools.real_data import DATA

BOOKS = DATA / "gutenberg" / "books"
_START = re.compile(r"\*\*\* ?START OF.*\n")
_END = re.compile(r"\*\*\* ?END OF")


def read_bodies(limit: int = 0, names: tuple[str, ...] = ()) -> dict[str, str]:
    """Name of the file without ".txt.gz" → what stands between its START and END lines, by name.

    Args:
      limit: so many of the files at most; 0 for all.
      names: only these.
    """
    paths = sorted(path for path in BOOKS.glob("*.txt.gz") if not names or stem(path) in names)
    return {stem(path): cut_body(read_text(path)) for path in paths[: limit or None]}


def stem(path: Path) -> str:
    """ "84-0" of "84-0.txt.gz"."""
    return path.name.removesuffix(".txt.gz")


def read_text(path: Path) -> str:
    """The whole file."""
    data = gzip.decompress(path.read_bytes())
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("cp1252", "replace")
    return text.replace("\r\n", "\n")


def cut_body(text: str) -> str:
    """The text without what stands before the START and after the END line, where it has these."""
    start, end = _START.search(text), _END.search(text)
    return text[start.end() if start else 0 : end.start() if end else len(text)]
