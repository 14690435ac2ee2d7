"""Reads metadata.csv, which DeepMind released with PG-19. It has one line per book and no header line.

A line has id, title, year of publication and link: "84,Frankenstein by Mary
Shelley,1823,http://www.gutenberg.org/ebooks/84". Fields are not quoted: commas were removed from the titles,
and quotation marks belong to the title.

Returns the splits of the PG-19 release, and reads splits from a user's table.

Replaces the words of a list by the mark `<DW>`, as PG-19 does with discriminatory words.

See Rae et al., "Compressive Transformers for Long-Range Sequence Modelling", 2020. Their list was never
released, so users must provide their own.
"""

import collections
import csv
import functools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from ..files.markup import read_toml
from ..files.records import ReleasedBook
from ..files.text import SPLITS

_LINE = re.compile(r"([1-9][0-9]{0,9}),([^,]*),([1-9][0-9]{3}),([^,]*/\1)\r?\n?")
_DETAIL_CHARACTERS = 100


class MalformedTableError(ValueError):
    """Raised if metadata.csv or a user's table of splits is invalid. The message names the line."""


def decode_lines(lines: Iterable[bytes]) -> Iterator[tuple[int, str]]:
    """Yields (line number, text) for each line. Raises MalformedTableError for a line that is not UTF-8."""
    for number, line in enumerate(lines, start=1):
        try:
            yield number, line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            raise MalformedTableError(f"line {number}: not UTF-8: {error}") from None


def read_released_lines(lines: Iterable[bytes]) -> Iterator[ReleasedBook]:
    """Yields the books in the lines of metadata.csv, in order.

    Raises MalformedTableError for an invalid line. Each line must end with the id of its book, as part of the
    link, so truncated lines are detected.
    """
    for number, text in decode_lines(lines):
        found = _LINE.fullmatch(text)
        if found is None:
            message = (
                f"line {number}: expected id,title,year,link, and a link that ends with the id"
            )
            raise MalformedTableError(f"{message}, found {text[:_DETAIL_CHARACTERS]!r}")
        book_id, title, year, url = found.groups()
        yield ReleasedBook(int(book_id), title, int(year), url)


BOOK_ID, SPLIT = "book_id", "split"

_TABLE = "released_splits.toml"
_ID = re.compile(r"[1-9][0-9]{0,9}")
_SYNONYMS = {name: name for name in SPLITS} | {"dev": "validation", "valid": "validation"}
_SHOWN_CHARACTERS = 100


@functools.cache
def released_splits() -> Mapping[int, str]:
    """Returns ebook number → "validation" or "test", for the 150 books that are not in the train split.

    The books of the train split are the other books in metadata.csv.
    """
    table = read_toml(__package__, _TABLE)
    return {book_id: split for split, book_ids in table.items() for book_id in book_ids}


def read_split_lines(lines: Iterable[bytes]) -> Mapping[int, str]:
    """Reads a TSV or CSV file with the columns book_id and split. Returns ebook number → split.

    Other columns are ignored. "dev" and "valid" mean validation. Raises MalformedTableError for an unknown
    split, and for a book with two different splits.
    """
    rows = _rows(lines)
    _, names = next(rows, (1, []))
    if names.count(BOOK_ID) != 1 or names.count(SPLIT) != 1:
        shown = str(names)[:_SHOWN_CHARACTERS]
        problem = f"the header must have the columns {BOOK_ID} and {SPLIT}, found {shown}"
        raise MalformedTableError(f"line 1: {problem}")
    splits: dict[int, str] = {}
    for line, row in rows:
        try:
            book_id, split = _check(row, names)
            if splits.setdefault(book_id, split) != split:
                raise ValueError(
                    f"book {book_id} is in {split}, but an earlier line has it in {splits[book_id]}"
                )
        except ValueError as error:
            raise MalformedTableError(f"line {line}: {error}") from None
    return splits


def _check(row: Sequence[str], names: Sequence[str]) -> tuple[int, str]:
    if len(row) != len(names):
        raise ValueError(f"expected {len(names)} fields as in the header, found {len(row)}")
    book_id, split = (row[names.index(name)] for name in (BOOK_ID, SPLIT))
    if not _ID.fullmatch(book_id):
        shown = book_id[:_SHOWN_CHARACTERS]
        raise ValueError(f"{BOOK_ID} must be a positive number, not {shown!r}")
    if split not in _SYNONYMS:
        shown = split[:_SHOWN_CHARACTERS]
        raise ValueError(f"{SPLIT} is {shown!r}; expected one of {', '.join(_SYNONYMS)}")
    return int(book_id), _SYNONYMS[split]


def _rows(lines: Iterable[bytes]) -> Iterator[tuple[int, list[str]]]:
    """Parses the lines of a TSV or CSV file. Yields (line number, fields without surrounding white space).

    Empty lines are skipped.
    """
    decoded = [text for _, text in decode_lines(lines)]
    delimiter = "\t" if decoded and "\t" in decoded[0] else ","
    reader = csv.reader(decoded, delimiter=delimiter, strict=True)
    try:
        for row in reader:
            if row:
                yield reader.line_num, [field.strip() for field in row]
    except csv.Error as error:
        raise MalformedTableError(f"line {reader.line_num}: {error}") from None


MARK = "<DW>"
_WORD = re.compile(r"\w+")


def read_words(lines: Iterable[str]) -> tuple[str, ...]:
    """Parses a list of words to mask, one entry per line.

    Returns the entries in lower case, sorted, each once.

    Empty lines are skipped. An entry may have several words, or a hyphen. Raises ValueError for an entry
    without a letter or digit, and for an empty list.
    """
    entries = {" ".join(line.split()).lower() for line in lines}
    entries.discard("")
    wordless = sorted(entry for entry in entries if not _WORD.search(entry))
    if wordless:
        raise ValueError(f"the entry {wordless[0]!r} has no letter or digit")
    if not entries:
        raise ValueError("the list has no words")
    return tuple(sorted(entries))


def mask_words(text: str, entries: Sequence[str]) -> tuple[str, int]:
    """Replaces words of a text by `<DW>`. Returns the new text and the number of replacements.

    `entries` are the words or phrases to replace, from `read_words`. They match whole words in any case.
    Between the words of an entry there may be any white space, including line ends. If several entries begin
    with the same word, the longest match is replaced.
    """
    by_first_word = _by_first_word(tuple(entries))
    if by_first_word.keys().isdisjoint(_WORD.findall(text.lower())):
        return text, 0
    parts, done, replaced = [], 0, 0
    for word in _WORD.finditer(text):
        for before, pattern in by_first_word.get(word[0].lower(), ()):
            start = word.start() - before
            if start >= done and (found := pattern.match(text, start)):
                parts += [text[done:start], MARK]
                done = found.end()
                replaced += 1
                break
    return "".join([*parts, text[done:]]), replaced


@functools.lru_cache(maxsize=1)
def _by_first_word(entries: Sequence[str]) -> Mapping[str, Sequence[tuple[int, re.Pattern[str]]]]:
    """Groups the entries by their first word.

    Returns first word → [(offset of the first word in the entry, pattern of the entry), …], with the longest
    entry first. The offset is not 0 if the entry begins with punctuation. The entries are grouped for speed:
    a single pattern for twenty thousand entries would take seconds per book.
    """
    found = collections.defaultdict(list)
    for entry in sorted(entries, key=len, reverse=True):
        first = _WORD.search(entry)
        assert first is not None  # `read_words` checks this
        words = r"\s+".join(map(re.escape, entry.split()))
        pattern = re.compile(rf"(?<!\w){words}(?!\w)", re.IGNORECASE)
        found[first[0]].append((first.start(), pattern))
    return dict(found)
