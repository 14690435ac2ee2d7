"""Reads the sentences of a new project from a table, a finished build or a released data set."""

import pathlib
from collections.abc import Iterable

from corpusmill.pipelines.translation.files import read_text
from corpusmill.transforms.files.builds.finished_builds import COMPLETED
from corpusmill.transforms.files.open_input import InputError
from corpusmill.transforms.files.tables import read_table
from corpusmill.transforms.files.translation_records import SPLITS, ReadError, SourceSentence
from corpusmill.transforms.translation.source_table import (
    METADATA_COLUMNS,
    NAME,
    metadata_names,
    read_source,
    sentence_id,
    to_sentence,
)

SOURCE_CODES = ("eng", "eng_Latn")  # codes of English in FLORES-101 and FLORES-200


def find_source(path: str) -> list[SourceSentence]:
    """Returns the sentences to translate, sorted by split and by position in the split.

    Args:
      path: a source.tsv; the folder of a finished build with this file; or the folder of a released data set
        with `metadata_devtest.tsv` and `eng.devtest`, which may be in `devtest/`. Missing splits are skipped.

    Raises InputError for any other path, and for damaged files.
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
    """Reads a source.tsv. Raises InputError if it cannot be read or is damaged."""
    try:
        return read_source(read_text(path))
    except ReadError as error:
        raise InputError(str(path), str(error)) from None


def _read_release(folder: pathlib.Path) -> list[SourceSentence]:
    sentences: list[SourceSentence] = []
    for split in SPLITS:
        names = [f"{code}.{split}" for code in SOURCE_CODES]
        text = _first_file((folder, folder / split), names)
        if text:
            metadata = _first_file((folder, folder.parent), metadata_names(split))
            if not metadata:
                raise InputError(
                    str(folder),
                    f"there is no {metadata_names(split)[0]} in this folder or its parent folder",
                )
            sentences += _read_split(text, metadata, split)
    if not sentences:
        wanted = f"{NAME}, {SOURCE_CODES[0]}.dev or {SOURCE_CODES[0]}.devtest"
        raise InputError(str(folder), f"no sentences to translate: there is no {wanted}")
    return sentences


def _first_file(folders: Iterable[pathlib.Path], names: Iterable[str]) -> pathlib.Path | None:
    paths = (folder / name for folder in folders for name in names)
    return next((path for path in paths if path.is_file()), None)


def _read_split(text: pathlib.Path, metadata: pathlib.Path, split: str) -> list[SourceSentence]:
    lines = read_text(text).removesuffix("\n").split("\n")
    try:
        rows = list(read_table(read_text(metadata), METADATA_COLUMNS))
        if len(lines) != len(rows):
            message = (
                f"must have one line for each of the {len(rows):,} rows of {metadata}, but has"
                f" {len(lines):,}"
            )
            raise InputError(str(text), message)
        first_of_url: dict[str, str] = {}
        sentences = []
        for place, (line, (number, row)) in enumerate(zip(lines, rows, strict=True), 1):
            if not line.strip():
                raise InputError(str(text), f"line {place} is empty")
            name = sentence_id(split, place)
            # A release has no page ids, so an article is identified by its first sentence.
            article = f"{row['domain']}:{first_of_url.setdefault(row['URL'], name)}"
            told = {"id": name, "split": split, "article": article, "url": row["URL"], "text": line}
            sentences.append(to_sentence(number, {**row, **told}))
    except ReadError as error:
        raise InputError(str(metadata), str(error)) from None
    return sentences
