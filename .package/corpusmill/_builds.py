"""Opens finished builds as Arrow tables."""

import json
import os
import pathlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.dataset

from ._errors import CorpusmillError, path_of, reported
from .transforms.files.builds.manifest import (
    COMPLETED,
    MANIFEST,
    check_manifest,
    find_link,
    mark_of,
)
from .transforms.files.formats import PARQUET, formats_of
from .transforms.files.text import SPLITS


def load(build: str | os.PathLike[str], split: str | None = None) -> pyarrow.dataset.Dataset:
    """Opens a finished build as an Arrow dataset. No rows are read yet.

    The sizes of the files are compared with the manifest. `corpusmill verify` compares the hashes, too.

    Parameters
    ----------
    build : path
        The local folder of a build, such as `corpora/wiki40b/uk/20261101-<version>`; or a folder above it, if
        no other build is below that folder.
    split : str, optional
        "train", "validation" or "test"; a build of lm1b also has "paper_test". The default is all rows, first
        those of train.

    Returns
    -------
    pyarrow.dataset.Dataset
        Its method `to_table` reads the rows as a pyarrow.Table, and `to_batches` some at a time.

    Raises
    ------
    CorpusmillError
        The folder has no finished build, or several; the build has no such split, or is damaged.

    Examples
    --------
    >>> import corpusmill
    >>> table = corpusmill.load("corpora/wiki40b/en", "train").to_table(["wikidata_id", "text"])
    >>> table.column_names
    ['wikidata_id', 'text']
    """
    folder = _find(path_of(build, "build"))
    with reported(str(folder), (pa.ArrowException,)):
        manifest = _open(folder)
        names = _of_split(manifest, split)
        kinds = formats_of(manifest)
        if not names and kinds and PARQUET not in kinds:
            raise CorpusmillError(
                f"{folder}: the rows are there as {', '.join(kinds)}, but `load` reads Parquet"
            )
        if not names:
            raise CorpusmillError(f"{folder}: the build has no rows of the split {split!r}")
        paths = [str(path) for path in _checked(folder, names)]
        return pyarrow.dataset.dataset(paths, format="parquet")


def _find(path: str) -> pathlib.Path:
    """Returns the folder of the only finished build in a folder or below it."""
    folder = pathlib.Path(path)
    with reported(path):
        if (folder / COMPLETED).exists():
            return folder
        if not folder.is_dir():
            raise CorpusmillError(f"{path}: there is no such folder")
        below = [
            one.parent
            for pattern in ("*", "*/*", "*/*/*")
            for one in sorted(folder.glob(f"{pattern}/{COMPLETED}"))
        ]
    if not below:
        raise CorpusmillError(f"{path}: no finished build: there is no file {COMPLETED}")
    if len(below) > 1:
        raise CorpusmillError(
            f"{path}: there are {len(below)} builds, such as {below[0]}; name one"
        )
    return below[0]


def _open(folder: pathlib.Path) -> Mapping[str, Any]:
    """Returns the manifest of a build. Raises CorpusmillError if it was changed."""
    content = (folder / MANIFEST).read_bytes()
    if (folder / COMPLETED).read_bytes() != mark_of(content):
        raise CorpusmillError(f"{folder}: {COMPLETED} does not match {MANIFEST}")
    manifest: Mapping[str, Any] = json.loads(content)
    try:
        check_manifest(manifest)
    except msgspec.MsgspecError as error:
        raise CorpusmillError(f"{folder}: not the manifest of a build: {error}") from error
    if link := find_link(str(folder)):
        raise CorpusmillError(f"{link}: a link, which could lead to any file")
    return manifest


def _of_split(manifest: Mapping[str, Any], split: str | None) -> list[Mapping[str, Any]]:
    splits = SPLITS if split is None else (split,)
    return [
        one
        for name in splits
        for one in sorted(manifest["outputs"], key=lambda one: str(one["name"]))
        if name and one["split"] == name and one["format"] == PARQUET
    ]


def _checked(folder: pathlib.Path, files: Sequence[Mapping[str, Any]]) -> Iterator[pathlib.Path]:
    """Yields the paths of files of a build. Raises CorpusmillError for a file that was changed."""
    for file in files:
        path = folder / file["name"]
        size = path.stat().st_size
        if size != file["bytes"]:
            raise CorpusmillError(f"{path}: has {size} bytes, expected {file['bytes']}")
        yield path
