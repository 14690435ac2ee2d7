"""source.tsv: the sentences that are translated, as a table that people may edit before a project begins."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from transforms.text.translation.records import SPLITS, ReadError, SourceSentence
from transforms.text.translation.tables import read_table, write_table

NAME = "source.tsv"
COLUMNS = (
    "id",
    "split",
    "article",
    "domain",
    "topic",
    "has_image",
    "has_hyperlink",
    "url",
    "text",
)
LICENCE = "licence"  # a further column, where sentences have licences
METADATA_COLUMNS = ("URL", "domain", "topic", "has_image", "has_hyperlink")  # of a release
_BOOLEANS = {"yes": True, "no": False}


def write_source(sentences: Iterable[SourceSentence]) -> str:
    """The table. The sentences are sorted by split, in the order of `SPLITS`, and place."""
    rows = list(sentences)
    columns = columns_of(COLUMNS, rows)
    return write_table(columns, (_row(one, columns) for one in rows))


def columns_of(columns: Sequence[str], sentences: Iterable[SourceSentence]) -> tuple[str, ...]:
    """The columns of a table, with LICENCE where one of the sentences has one."""
    return (*columns, LICENCE) if any(one.licence for one in sentences) else tuple(columns)


def _row(sentence: SourceSentence, columns: Sequence[str]) -> list[str]:
    values = sentence._asdict()
    return [
        yes_or_no(values[name]) if isinstance(values[name], bool) else values[name]
        for name in columns
    ]


def yes_or_no(value: bool) -> str:
    """As the released metadata have it."""
    return "yes" if value else "no"


def read_source(text: str) -> list[SourceSentence]:
    """The sentences, by split and place.

    Raises ReadError for a table that is none, an id that is not its split and place, a sentence that is
    empty or breaks its line, and a value that is neither yes nor no.
    """
    sentences = []
    place_of: dict[str, int] = dict.fromkeys(SPLITS, 0)
    for line, row in read_table(text, COLUMNS):
        sentence = to_sentence(line, row)
        place_of[sentence.split] += 1
        expected = sentence_id(sentence.split, place_of[sentence.split])
        if sentence.id != expected:
            raise ReadError(
                line, f"the id is {sentence.id!r}, and by split and place it is {expected}"
            )
        sentences.append(sentence)
    if not sentences:
        raise ReadError(1, "no sentence")
    return sorted(sentences, key=lambda one: SPLITS.index(one.split))


def to_sentence(line: int, row: Mapping[str, str]) -> SourceSentence:
    """The sentence of a row, which may have other columns, too. Raises ReadError."""
    if row["split"] not in SPLITS:
        raise ReadError(line, f"no such split: {row['split']!r}; there are {', '.join(SPLITS)}")
    if not row["text"].strip() or "\n" in row["text"]:
        raise ReadError(line, "a sentence is one line that is not empty")
    fields: dict[str, Any] = {name: row[name] for name in SourceSentence._fields if name in row}
    for name in ("has_image", "has_hyperlink"):
        if row[name] not in _BOOLEANS:
            raise ReadError(line, f"{name} is yes or no, not {row[name]!r}")
        fields[name] = _BOOLEANS[row[name]]
    return SourceSentence(**fields)


def metadata_names(split: str) -> tuple[str, str]:
    """Returns the names of the table beside a split: the correct one, and the misspelt one of FLORES-101."""
    return f"metadata_{split}.tsv", f"metedata_{split}.tsv"


def sentence_id(split: str, place: int) -> str:
    """The id of a sentence: its split, and its place in it from 1."""
    return f"{split}-{place:04}"


def splits_of(sentences: Iterable[SourceSentence]) -> Iterator[tuple[str, list[SourceSentence]]]:
    """(split, its sentences in order) for each split that has any, in the order of `SPLITS`."""
    by_split: dict[str, list[SourceSentence]] = {split: [] for split in SPLITS}
    for sentence in sentences:
        by_split[sentence.split].append(sentence)
    return ((split, those) for split, those in by_split.items() if those)
