"""Detects what a file contains: lines, JSON, a table, or something from which no text can be read.

Detects tables, JSON and markup in a text that should have one sentence per line.
"""

import contextlib
import functools
import itertools
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from .compression import DECODE_ERRORS, codec_of, decompressed, is_binary, kind_of, read_some
from .line_blocks import malformed_lines
from .read_files import InputError, file_bytes_of, open_input, open_raw
from .read_lines import (
    HEAD_BYTES,
    MEMBERS,
    check_end,
    find_files,
    plan_units,
    read_head,
    read_unit,
    text_stream,
)
from .tar_members import is_tar
from .work_units import MAX_LINE_BYTES, LineBlock

_MIN_LINES = 10  # shorter texts are not judged
_MIN_SHARE = 0.9  # of lines that begin like JSON, or have the same number of separators
_MIN_MARKUP_SHARE = 0.2  # of lines that begin with a tag; the others are the text between tags
_JSON = re.compile(r'\s*(?:[{}\[\]]|"[^"]*"\s*:)')
_TAG = re.compile(r"\s*<[/!?a-zA-Z]")
_QUOTED = re.compile(r'"[^"]*"')
_ENTITY = re.compile(r"&?(?:#\w+|\b(?:amp|apos|gt|lt|nbsp|quot)|(?<=&)\w+);")
_SEPARATORS = {"\t": "a tab", ",": "a comma", ";": "a semicolon", "|": '"|"'}
_NUMBER = re.compile(r"\s*[-+$€£\d][\d\s.,:/%+-]*")
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3000-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uffef"
)
# The characters beside a separator that is neither punctuation nor part of a number.
_BESIDE = re.compile(rf"(?!\d\d)[^\s{_UNSPACED}](?![{_UNSPACED}])[\"\w+$-]")
_SHORT_WORDS = 3  # most words of a short cell


def describe_format(lines: Iterable[str]) -> str:
    """Returns the format of a text that consists of records, such as "CSV", with the reason for this guess.

    Returns "" for a text of sentences, and for a text of fewer than 10 lines. Nearly all lines of a table
    have the same number of separators outside quotation marks. That may be so in a few sentences, too: see
    `_is_table`.
    """
    written = [line for line in lines if line.strip()]
    if len(written) < _MIN_LINES:
        return ""
    for name, start, share in (("JSON", _JSON, _MIN_SHARE), ("markup", _TAG, _MIN_MARKUP_SHARE)):
        like = sum(1 for line in written if start.match(line))
        if like >= share * len(written):
            return f"{name}: {like:,} of {len(written):,} lines begin like it"
    text = _ENTITY.sub("&", "\n".join(written))
    for unquoted in (text, _QUOTED.sub('"', text)):
        rows = unquoted.split("\n")
        for separator, name in _SEPARATORS.items():
            ((found, like),) = Counter(row.count(separator) for row in rows).most_common(1)
            if not found or len(rows) < _MIN_LINES or like < _MIN_SHARE * len(rows):
                continue
            alike = [row.split(separator) for row in rows if row.count(separator) == found]
            if _is_table(alike, is_tabbed=separator == "\t"):
                fields = f"{found + 1} fields, divided by {name}"
                return f"a table: {like:,} of {len(rows):,} rows have {fields}"
    return ""


def _is_table(rows: Sequence[Sequence[str]], *, is_tabbed: bool) -> bool:
    """Returns True for rows of a table, False for sentences that were divided at their punctuation.

    Most rows of a table have text in two cells at least. This is enough if they are divided by tabs.
    Otherwise, one of its columns has only numbers or dates; or its separators have no white space beside
    them, as punctuation has in most scripts; or its rows begin and end with a separator; or all its cells are
    short, and the last one does not end like a sentence.
    """
    filled = [[cell for cell in row if cell.strip()] for row in rows]
    if not _are_most(len(cells) > 1 for cells in filled):
        return False
    return (
        is_tabbed
        or any(_are_most(map(_NUMBER.fullmatch, column)) for column in zip(*rows, strict=True))
        or _are_most(map(_has_no_spaces, rows))
        or _are_most(not row[0].strip() and not row[-1].strip() for row in rows)
        or _are_most(len(cells) > 2 and _are_short(cells) for cells in filled)
    )


def _are_most(found: Iterable[object]) -> bool:
    rows = list(map(bool, found))
    return sum(rows) >= _MIN_SHARE * len(rows)


def _has_no_spaces(cells: Sequence[str]) -> bool:
    pairs = ((first, second) for first, second in pairwise(cells) if first and second)
    return all(_BESIDE.fullmatch(first[-1] + second[0]) for first, second in pairs)


def _are_short(cells: Sequence[str]) -> bool:
    is_short = all(len(cell.split()) <= _SHORT_WORDS for cell in cells)
    return is_short and cells[-1].rstrip()[-1].isalnum()


# kinds of files with rows or lines
PARQUET, ARROW, CSV, JSON = "parquet", "Arrow", "CSV", "JSON"
JSON_LINES, LINES = "JSON lines", "lines"
ARROW_FILE = b"ARROW1"
FIRST_BYTES = 1 << 16  # size of the blocks that are read to see what a file contains

_TABLES = {b"PAR1": PARQUET, ARROW_FILE: ARROW, b"\xff\xff\xff\xff": ARROW}  # first bytes
_READABLE = "texts are read from Parquet, Arrow, CSV, JSON, JSON lines and UTF-8 text"
_SPACE = b"\xef\xbb\xbf \t\r\n"
_COMPRESSION = re.compile(r"\.(gz|bz2|xz|zst|zstd)$")
_OBJECT = re.compile(rb'\{\s*(?:["}]|$)')
_ARRAY = re.compile(rb"\[\s*(\{|$)")
_TEXTS = re.compile(rb'\[[\s\[]*"([^"\\]|\\.)*"\s*[],]|\[\s*\[\s*\d+\s*,')  # in arrays


def kind_of_file(path: str, *, is_text: bool = False) -> str:
    """Returns the kind of a file, detected from its first bytes; that of CSV from its name.

    If `is_text` is True, web pages, tables and JSON are accepted as LINES.

    Raises InputError if the file is damaged, or if texts cannot be read from files of its kind.
    """
    with open_raw(path) as stream:
        stored = stream.read(HEAD_BYTES)
    if kind := next((kind for magic, kind in _TABLES.items() if stored.startswith(magic)), ""):
        return kind
    head = _first_bytes(path)
    is_zero = b"\0" in head[:HEAD_BYTES]
    kind = "" if is_text and not is_zero else kind_of(head)
    if kind or is_zero or is_binary(head):
        kind = kind or "binary data of an unknown kind"
        packed = "" if head.startswith(stored[:16]) else " in a compressed file"
        hint = f"write {path}#lines to read it as text" if "HTML" in kind else _READABLE
        raise InputError(path, f"the file is {kind}{packed}; {hint}")
    name, start = _COMPRESSION.sub("", path.lower()), head.lstrip(_SPACE)
    if is_text or name.endswith((".csv", ".tsv")):
        return LINES if is_text else CSV
    if _OBJECT.match(start):
        is_lines = name.endswith((".jsonl", ".ndjson")) or is_tar(stored) or _has_json_lines(path)
        return JSON_LINES if is_lines else JSON
    if _ARRAY.match(start) or (start.startswith(b"[") and name.endswith(".json")):
        return JSON
    if _TEXTS.match(start) or (start and name.endswith((".jsonl", ".ndjson"))):
        hint = f"name it .json if it is an array, or write {path}#lines to read it as text"
        raise InputError(path, f"not lines with JSON objects; {hint}")
    return LINES


def check_is_text(path: str) -> None:
    """Raises InputError if a file is not text with one sentence per line, as far as its first bytes show."""
    if (kind := kind_of_file(path)) != LINES:
        raise InputError(path, f"the file is {kind}, but must be text with one sentence per line")


def check_sentences(path: str) -> None:
    """Raises InputError as `check_is_text` does, and if all first lines are empty or most are not UTF-8."""
    check_is_text(path)
    lines = _first_bytes(path).splitlines(keepends=True)
    if not any(line.strip() for line in lines):
        raise InputError(path, "no text (it is empty)")
    wrong = len(malformed_lines(b"".join(line for line in lines if line.endswith(b"\n"))))
    if wrong * 2 > len(lines):
        raise InputError(path, f"most of its lines are not UTF-8: {wrong:,} of {len(lines):,}")


def check_no_records(path: str) -> None:
    """Raises InputError if the first lines of a text file seem to be records, such as those of a table."""
    lines = _first_bytes(path).decode("utf-8", "replace").split("\n")
    if table := describe_format(lines[:-1]):
        raise InputError(
            path,
            f"its lines seem to be records, not texts ({table}): name it .csv, .tsv or .json to read its"
            f" columns, or write {path}#lines to read its lines",
        )


def _first_bytes(path: str) -> bytes:
    """Returns the beginning of a file, or of the first file in an archive, decompressed."""
    try:
        with open_input(path) as stream:
            head = stream.read(FIRST_BYTES)
    except DECODE_ERRORS as error:
        raise InputError(path, f"damaged or truncated: {error}") from None
    if not is_tar(head):
        return head
    units = plan_units([path], 1, ("*",))
    events = (event for unit in units for event in read_unit(unit, ("*",), FIRST_BYTES))
    return next((one.data for one in events if isinstance(one, LineBlock)), b"")


def _has_json_lines(path: str) -> bool:
    """Returns True if the first line of a file is a JSON object, and not a document with a list of rows."""
    with open_input(path) as stream:
        stored = iter(functools.partial(stream.readline, MAX_LINE_BYTES), b"")
        line = next(filter(lambda one: one.strip(_SPACE), stored), b"")
        is_only = len(line) < MAX_LINE_BYTES and not stream.read(HEAD_BYTES).strip(_SPACE)
    try:
        text = line.decode("utf-8-sig", "surrogateescape")
        row = {} if len(line) == MAX_LINE_BYTES else json.loads(text)
    except (ValueError, RecursionError):
        return False
    return not (is_only and lists_of_rows(row))


def lists_of_rows(row: Mapping[str, Any]) -> dict[str, list[Any]]:
    """Returns the lists of objects among the values of an object, with their keys."""
    lists = {key: one for key, one in row.items() if isinstance(one, list)}
    return {key: one for key, one in lists.items() if one and isinstance(one[0], dict)}


KEEP = "; --on-corrupt keep-good builds from the files that are text"
_SAMPLED_FILES = 8
_SAMPLED_BYTES = 1 << 15  # bytes sampled from each file


def check_lines(
    paths: Sequence[str], *, whole: bool = True, members: Sequence[str] = MEMBERS
) -> None:
    """Checks input files of lines, and raises InputError if they cannot be used.

    Files of a known kind other than text, such as PDF, cannot be used, nor can archives without a wanted
    file. An error is also raised if all files together have no line. Only the beginnings and ends of files
    are read, so the contents of compressed archives are not checked. A truncated .gz file is not detected,
    because the format has no end mark.

    Args:
      whole: True to raise an error, too, for truncated files, for files that seem to be binary, and for
        archives with a link instead of a wanted file.
      members: patterns that the names of the wanted files in an archive must match.
    """
    has_text = [_check_file(path, whole, members) for path in paths]
    if not any(has_text):
        raise InputError(", ".join(paths), "the files contain no lines")


def _check_file(path: str, whole: bool, members: Sequence[str]) -> bool:
    """Checks a file, and returns True if it is not empty. Raises InputError if it cannot be used.

    Args:
      whole: as in `check_lines`.
      members: patterns that the names of the wanted files in an archive must match.
    """
    if not (file_bytes := file_bytes_of(path)):
        return False
    with open_raw(path) as stream:
        codec = codec_of(stream)
        head = read_head(path, stream)
        if kind := kind_of(head):
            raise InputError(path, f"the file is {kind}", 0)
        if whole and is_binary(head) and not is_tar(head):
            raise InputError(
                path, f"the file seems to be binary data, not text: {head[:16]!r}{KEEP}", 0
            )
        if whole:
            check_end(path, stream, codec, file_bytes)
    files = find_files(path, members, must_be_whole=whole)
    return bool(head) and any(file.stored_bytes for file in files)


def sample_lines(
    paths: Sequence[str], members: Sequence[str] = MEMBERS
) -> Iterator[tuple[str, list[str]]]:
    """Yields (path, first lines) of a few files, which are evenly spread over the list.

    For a file in an archive, the path of the archive is yielded. Compressed archives are skipped. Damage is
    ignored, because it is reported later, when the files are read.

    Args:
      paths: the files of lines, which may be archives.
      members: patterns that the names of the wanted files in an archive must match.
    """
    step = -(-len(paths) // _SAMPLED_FILES) or 1
    for file in itertools.chain(*(find_files(path, members) for path in paths[::step])):
        with open_raw(file.path) as stream, contextlib.suppress(*DECODE_ERRORS):
            head = read_some(decompressed(text_stream(stream, file)), _SAMPLED_BYTES)
            if not is_tar(head):
                yield file.path, head.decode("utf-8", "ignore").split("\n")
