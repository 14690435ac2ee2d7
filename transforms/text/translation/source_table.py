"""source.tsv: the sentences that are translated, as a table that people may edit before a project begins."""

from collections.abc import Iterable, Iterator, Mapping

from transforms.text.translation.records import SPLITS, SourceSentence
from transforms.text.translation.tables import TableError, read_table, write_table

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
_BOOLEANS = {"yes": True, "no": False}


def write_source(sentences: Iterable[SourceSentence]) -> str:
    """The table. The sentences stand by split, in the order of `SPLITS`, and place."""
    return write_table(COLUMNS, map(_row, sentences))


def _row(sentence: SourceSentence) -> list[str]:
    values = sentence._asdict()
    return [
        yes_or_no(values[name]) if isinstance(values[name], bool) else values[name]
        for name in COLUMNS
    ]


def yes_or_no(value: bool) -> str:
    """As the released metadata have it."""
    return "yes" if value else "no"


def read_source(text: str) -> list[SourceSentence]:
    """The sentences, by split and place.

    Raises TableError for a table that is none, an id that is not its split and place, a sentence that is
    empty or breaks its line, and a value that is neither yes nor no.
    """
    sentences = []
    place_of: dict[str, int] = dict.fromkeys(SPLITS, 0)
    for line, row in read_table(text, COLUMNS):
        sentence = _sentence(line, row)
        place_of[sentence.split] += 1
        expected = sentence_id(sentence.split, place_of[sentence.split])
        if sentence.id != expected:
            raise TableError(
                line, f"the id is {sentence.id!r}, and by split and place it is {expected}"
            )
        sentences.append(sentence)
    if not sentences:
        raise TableError(1, "no sentence")
    return sorted(sentences, key=lambda one: SPLITS.index(one.split))


def _sentence(line: int, row: Mapping[str, str]) -> SourceSentence:
    if row["split"] not in SPLITS:
        raise TableError(line, f"no such split: {row['split']!r}; there are {', '.join(SPLITS)}")
    if not row["text"].strip() or "\n" in row["text"]:
        raise TableError(line, "a sentence is one line that is not empty")
    booleans = {name: yes_no(line, name, row[name]) for name in ("has_image", "has_hyperlink")}
    fields = {name: row[name] for name in SourceSentence._fields if name not in booleans}
    return SourceSentence(**fields, **booleans)  # type: ignore[arg-type]


def yes_no(line: int, column: str, value: str) -> bool:
    """What a field says. Raises TableError."""
    if value not in _BOOLEANS:
        raise TableError(line, f"{column} is yes or no, not {value!r}")
    return _BOOLEANS[value]


def metadata_names(split: str) -> tuple[str, str]:
    """What the table beside a split is called: as it should be, and as FLORES-101 has misspelt it."""
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
