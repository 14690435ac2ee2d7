"""Where the sentences of a new project come from: a table, a finished build, or a released data set."""

import pathlib

from pipelines.translation.files import read_text
from transforms.builds.finished_builds import COMPLETED
from transforms.files.open_input import InputError
from transforms.text.translation.records import SPLITS, SourceSentence
from transforms.text.translation.source_table import (
    NAME,
    metadata_names,
    read_source,
    sentence_id,
    yes_no,
)
from transforms.text.translation.tables import TableError, read_table

SOURCE_CODES = ("eng", "eng_Latn")  # of FLORES-101 and FLORES-200
_METADATA_COLUMNS = ("URL", "domain", "topic", "has_image", "has_hyperlink")


def find_source(path: str) -> list[SourceSentence]:
    """The sentences by split and place.

    Args:
      path: a source.tsv; the folder of a finished build that holds one; or the folder of a released data set,
        with `eng.devtest` in it or in `devtest/`, and `metadata_devtest.tsv`. Splits that are not there are
        left out.

    Raises InputError for what is none of these, or is damaged.
    """
    place = pathlib.Path(path)
    if not place.is_dir():
        return read_source_file(place)
    if (place / NAME).is_file():
        if not (place / COMPLETED).is_file() and (place / "manifest.json").exists():
            raise InputError(path, f"no finished build: there is no file {COMPLETED}")
        return read_source_file(place / NAME)
    return _read_release(place)


def read_source_file(path: pathlib.Path) -> list[SourceSentence]:
    """A source.tsv. Raises InputError."""
    try:
        return read_source(read_text(path))
    except TableError as error:
        raise InputError(str(path), str(error)) from None


def _read_release(folder: pathlib.Path) -> list[SourceSentence]:
    sentences: list[SourceSentence] = []
    for split in SPLITS:
        text = _first(folder, [f"{code}.{split}" for code in SOURCE_CODES], split)
        if text:
            sentences += _read_split(text, _metadata_of(folder, split), split)
    if not sentences:
        names = f"{NAME}, {SOURCE_CODES[0]}.dev or {SOURCE_CODES[0]}.devtest"
        raise InputError(str(folder), f"no sentences to translate: there is no {names}")
    return sentences


def _first(folder: pathlib.Path, names: list[str], split: str) -> pathlib.Path | None:
    paths = [place / name for place in (folder, folder / split) for name in names]
    return next((path for path in paths if path.is_file()), None)


def _metadata_of(folder: pathlib.Path, split: str) -> pathlib.Path:
    names = metadata_names(split)
    paths = [place / name for place in (folder, folder.parent) for name in names]
    found = next((path for path in paths if path.is_file()), None)
    if not found:
        raise InputError(str(folder), f"no {names[0]} here or above")
    return found


def _read_split(text: pathlib.Path, metadata: pathlib.Path, split: str) -> list[SourceSentence]:
    lines = read_text(text).removesuffix("\n").split("\n")
    try:
        rows = list(read_table(read_text(metadata), _METADATA_COLUMNS))
    except TableError as error:
        raise InputError(str(metadata), str(error)) from None
    if len(lines) != len(rows):
        raise InputError(
            str(text), f"{len(lines):,} lines, and {metadata} has {len(rows):,} rows of them"
        )
    first_of_url: dict[str, str] = {}
    sentences = []
    for place, (line, (number, row)) in enumerate(zip(lines, rows, strict=True), 1):
        if not line.strip():
            raise InputError(str(text), f"line {place}: no sentence")
        name = sentence_id(split, place)
        try:
            has_image = yes_no(number, "has_image", row["has_image"])
            has_hyperlink = yes_no(number, "has_hyperlink", row["has_hyperlink"])
        except TableError as error:
            raise InputError(str(metadata), str(error)) from None
        # A release does not tell page ids: an article is named by its first sentence.
        article = f"{row['domain']}:{first_of_url.setdefault(row['URL'], name)}"
        sentences.append(
            SourceSentence(
                name,
                split,
                article,
                line,
                row["URL"],
                row["domain"],
                row["topic"],
                has_image,
                has_hyperlink,
            )
        )
    return sentences
