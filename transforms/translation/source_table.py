"""Writes and reads source.tsv, the table of source sentences, which may be edited before a project begins.

Makes the rows of released translations: a row for each sentence in each language.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

from ..files.markup import read_table, write_table
from ..files.records import SPLITS, ReadError, SourceSentence

NAME = "source.tsv"
COLUMNS = tuple("id split article domain topic has_image has_hyperlink url text".split())
LICENCE = "licence"  # an additional column, if sentences have licences
METADATA_COLUMNS = ("URL", "domain", "topic", "has_image", "has_hyperlink")  # of a release
_BOOLEANS = {"yes": True, "no": False}
_ABOUT_ARTICLE = ("url", "domain", "topic", "has_image", "has_hyperlink")
_KINDS = {"number": pa.int32(), "has_image": pa.bool_(), "has_hyperlink": pa.bool_()}
NUMBERS = tuple(_KINDS)
RELEASED_SCHEMA = pa.schema(
    [
        pa.field(name, _KINDS.get(name, pa.string()), nullable=False)
        for name in ("id", "language", "number", "text", *_ABOUT_ARTICLE)
    ]
)
"""Columns of released translations. `number` is the place of a sentence in its split, as released."""

NOTHING_KNOWN = ("", "", "", False, False)
"""The values of a line without metadata."""

_OF_PLUS = ("iso_639_3", "iso_15924", "glottocode", "last_updated")
PLUS_SCHEMA = pa.schema([*RELEASED_SCHEMA, *(pa.field(name, pa.string()) for name in _OF_PLUS)])
"""Columns of translations that are made of FLORES+."""

PLUS_COLUMNS = pa.schema(
    [("id", pa.int64())]
    + [(name, pa.string()) for name in (*_OF_PLUS[:3], "text", *_ABOUT_ARTICLE, _OF_PLUS[3])]
)
"""Columns of the files of FLORES+. `id` is the place of a sentence in its split, from 0."""


def write_source(sentences: Iterable[SourceSentence]) -> str:
    """Returns the content of source.tsv, a table with one row per sentence.

    `sentences` must be sorted by split (dev, devtest, test), then by their position in the split.
    """
    rows = list(sentences)
    columns = columns_of(COLUMNS, rows)
    texts = (
        {name: yes_or_no(value) if isinstance(value, bool) else value for name, value in fields}
        for fields in (one._asdict().items() for one in rows)
    )
    return write_table(columns, ([values[name] for name in columns] for values in texts))


def columns_of(columns: Sequence[str], sentences: Iterable[SourceSentence]) -> tuple[str, ...]:
    """Returns `columns`, and the column LICENCE if at least one of the sentences has a licence."""
    return (*columns, LICENCE) if any(one.licence for one in sentences) else tuple(columns)


def yes_or_no(value: bool) -> str:
    """Returns "yes" or "no", the two values that the released metadata uses."""
    return "yes" if value else "no"


def yes_or_no_of(sentence: SourceSentence) -> list[str]:
    """Returns "yes" or "no" for `has_image` and `has_hyperlink`."""
    return [*map(yes_or_no, (sentence.has_image, sentence.has_hyperlink))]


def read_source(text: str) -> list[SourceSentence]:
    """Reads the content of source.tsv. Returns its sentences, sorted by split and position in the split.

    Raises ReadError if the table is malformed or empty, if an id does not match its split and position, if a
    sentence is empty or has a line break, or if a value that must be yes or no is something else.
    """
    sentences = []
    place_of: dict[str, int] = dict.fromkeys(SPLITS, 0)
    for line, row in read_table(text, COLUMNS):
        sentence = to_sentence(line, row)
        place_of[sentence.split] += 1
        expected = sentence_id(sentence.split, place_of[sentence.split])
        if sentence.id != expected:
            raise ReadError(
                line,
                f"expected the id {expected}, from the split and the position of the row in the split;"
                f" found {sentence.id!r}",
            )
        sentences.append(sentence)
    if not sentences:
        raise ReadError(1, "the table has no sentence")
    return sorted(sentences, key=lambda one: SPLITS.index(one.split))


def to_sentence(line: int, row: Mapping[str, str]) -> SourceSentence:
    """Returns the sentence in a row of source.tsv. Unknown columns are ignored.

    Args:
      line: the line number of the row, for error messages.
      row: column → value.

    Raises ReadError if a value is invalid.
    """
    if row["split"] not in SPLITS:
        raise ReadError(line, f"no such split: {row['split']!r}; there are {', '.join(SPLITS)}")
    if not row["text"].strip() or "\n" in row["text"]:
        raise ReadError(line, "the text is empty or has a line break; a sentence is one line")
    fields: dict[str, Any] = {name: row[name] for name in SourceSentence._fields if name in row}
    for name in ("has_image", "has_hyperlink"):
        if row[name] not in _BOOLEANS:
            raise ReadError(line, f"{name}: expected yes or no, found {row[name]!r}")
        fields[name] = _BOOLEANS[row[name]]
    return SourceSentence(**fields)


def metadata_names(split: str) -> tuple[str, str]:
    """Returns two file names for a split's metadata: the correct one, and the misspelt one of FLORES-101."""
    return f"metadata_{split}.tsv", f"metedata_{split}.tsv"


def sentence_id(split: str, place: int) -> str:
    """Returns the id of the sentence at the position `place` in a split. Positions are counted from 1."""
    return f"{split}-{place:04}"


def splits_of(sentences: Iterable[SourceSentence]) -> Iterator[tuple[str, list[SourceSentence]]]:
    """Yields (split, its sentences in order) for each of dev, devtest and test that has sentences."""
    by_split: dict[str, list[SourceSentence]] = {split: [] for split in SPLITS}
    for sentence in sentences:
        by_split[sentence.split].append(sentence)
    return ((split, those) for split, those in by_split.items() if those)


def read_metadata(lines: Iterable[bytes]) -> list[list[Any]]:
    """Returns the values of each line in a released table of metadata, in the order of _ABOUT_ARTICLE.

    Raises ReadError for a malformed line.
    """
    rows: list[list[Any]] = []
    for number, line in enumerate(lines, 1):
        cells = line.decode("utf-8").rstrip("\r\n").split("\t")
        if number == 1:
            if cells != [*METADATA_COLUMNS]:
                raise ReadError(1, f"expected the columns {', '.join(METADATA_COLUMNS)}")
        elif len(cells) != len(METADATA_COLUMNS):
            raise ReadError(number, f"expected {len(METADATA_COLUMNS)} columns, found {len(cells)}")
        else:
            rows.append([*cells[:3], *(_to_bool(number, cell) for cell in cells[3:])])
    return rows


def _to_bool(place: int, value: Any) -> bool:
    if isinstance(value, bool):
        return value
    if str(value).lower() not in _BOOLEANS:
        raise ReadError(place, f"expected yes or no, found {value!r}")
    return _BOOLEANS[str(value).lower()]


def plus_row(split: str, number: int, row: Mapping[str, Any]) -> tuple[Any, ...]:
    """Returns the row of a sentence of FLORES+, in the order of PLUS_SCHEMA.

    Raises ReadError if a value is missing or invalid. `number` is the number of the row in its file.
    """
    if missing := [name for name in ("id", "text", *_OF_PLUS[:2]) if row.get(name) is None]:
        raise ReadError(number, f"there is no {missing[0]}")
    about = [str(row.get(name) or "") for name in _ABOUT_ARTICLE[:3]]
    booleans = (_to_bool(number, row.get(name, False)) for name in _ABOUT_ARTICLE[3:])
    others = (None if row.get(name) is None else str(row[name]) for name in _OF_PLUS)
    language, of_split = f"{row['iso_639_3']}_{row['iso_15924']}", int(row["id"])
    variety = f"{language}_{row['glottocode']}" if row.get("glottocode") else language
    identity = f"{sentence_id(split, of_split)}-{variety}"
    return identity, language, of_split, str(row["text"]), *about, *booleans, *others
