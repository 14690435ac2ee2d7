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
import functools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from ..files.markup import (
    MalformedTableError,
    check_split,
    decode_lines,
    read_columns,
    read_toml,
)
from ..files.records import ReleasedBook

_LINE = re.compile(r"([1-9][0-9]{0,9}),([^,]*),([1-9][0-9]{3}),([^,]*/\1)\r?\n?")
_DETAIL_CHARACTERS = 100


def read_released_lines(lines: Iterable[bytes]) -> Iterator[ReleasedBook]:
    """Yields the books in the lines of metadata.csv, in order.

    Raises MalformedTableError for an invalid line. Each line must end with the id of its book, as part of the
    link, so truncated lines are detected.
    """
    for number, text in enumerate(decode_lines(lines), start=1):
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
    splits: dict[int, str] = {}
    for line, (name, given) in read_columns(lines, BOOK_ID, SPLIT):
        if not _ID.fullmatch(name):
            problem = f"{BOOK_ID} must be a positive number, not {name[:_DETAIL_CHARACTERS]!r}"
            raise MalformedTableError(f"line {line}: {problem}")
        book_id, split = int(name), check_split(given, f"line {line}")
        if (known := splits.setdefault(book_id, split)) != split:
            problem = f"book {book_id} is in {split}, but an earlier line has it in {known}"
            raise MalformedTableError(f"line {line}: {problem}")
    return splits


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
