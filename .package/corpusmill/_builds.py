"""Opens finished builds as Arrow tables and as indexes of signatures."""

import json
import os
import pathlib
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet as pq

from ._duplicates import datasketch, to_minhash
from ._errors import CorpusmillError, path_of, reported
from .transforms.duplicates.minhash import PARAMETERS, PERMUTATIONS
from .transforms.files.builds.manifest import (
    COMPLETED,
    MANIFEST,
    check_manifest,
    find_link,
    mark_of,
)
from .transforms.files.formats import PARQUET, formats_of
from .transforms.files.text import SPLITS

if TYPE_CHECKING:
    from datasketch import MinHashLSH


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


def signatures(build: str | os.PathLike[str], threshold: float = 0.8) -> "MinHashLSH":
    """Opens the MinHash signatures of a build as an index of datasketch, to look up similar documents.

    Parameters
    ----------
    build : path
        The local folder of a build that was made with `--signatures`, or of the output of
        `corpusmill overlap` with `--signatures-only`; or a folder above it, as for `load`.
    threshold : float, optional
        The Jaccard similarity from which documents are found, above 0 and below 1.

    Returns
    -------
    datasketch.MinHashLSH
        Its method `query`, with the `signature` of a text, returns the ids of similar documents, which are
        those of the column `id`. If the folder has signatures of several data sets, each key is a tuple
        (data set, id).

    Raises
    ------
    CorpusmillError
        The folder has no finished build, or one without signatures; or datasketch is not installed.

    Examples
    --------
    >>> import corpusmill
    >>> index = corpusmill.signatures("found")
    >>> text = corpusmill.load("corpora/wiki40b/en", "train").head(1)["text"][0].as_py()
    >>> len(index.query(corpusmill.signature(text)))
    1
    """
    library = datasketch()
    folder = _find(path_of(build, "build"))
    if isinstance(threshold, bool) or not isinstance(threshold, int | float):
        raise CorpusmillError(f"threshold must be a number, not {type(threshold).__name__}")
    if not 0 < threshold < 1:
        raise CorpusmillError(f"threshold must be above 0 and below 1, not {threshold}")
    with reported(str(folder), (pa.ArrowException,)):
        outputs = _open(folder)["outputs"]
        found = [one for one in outputs if _is_signatures(one["name"])]
        if not found:
            raise CorpusmillError(
                f"{folder}: the build has no signatures; build it with --signatures, or run"
                f" corpusmill overlap {folder} --signatures-only --output DIR"
            )
        index = library.MinHashLSH(threshold=threshold, num_perm=PERMUTATIONS)
        for path in _checked(folder, found):
            for key, values in _rows(pq.read_table(path)):
                index.insert(key, to_minhash(values), check_duplication=False)
    return index


def _is_signatures(name: str) -> bool:
    return name.startswith("signatures-") and name.endswith(".parquet")


def _rows(table: pa.Table) -> Iterator[tuple[Any, Any]]:
    marks = json.loads((table.schema.metadata or {}).get(b"minhash", b"{}"))
    expected = {name: PARAMETERS[name] for name in ("permutations", "scheme", "seed")}
    if any(marks.get(name) != value for name, value in expected.items()):
        raise CorpusmillError(f"the signatures have the parameters {marks}, expected {expected}")
    if table.schema.field("signature").type != pa.list_(pa.uint32(), PERMUTATIONS):
        raise CorpusmillError(f"the column signature has no lists of {PERMUTATIONS} numbers")
    names = [name for name in ("data_set", "id") if name in table.column_names]
    columns = [table[name].to_pylist() for name in names]
    values = table["signature"].combine_chunks().values.to_numpy()
    keys = columns[0] if len(columns) == 1 else list(zip(*columns, strict=True))
    return zip(keys, values.reshape(len(table), PERMUTATIONS), strict=True)


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
