"""Reads the share of a corpus for one of several training processes, in a reproducible order.

To print the documents as JSON lines:

    python read_corpus.py --corpus /srv/corpora/wiki40b/uk --rank 3 --ranks 8

To read them in your own program:

    edition = wait_for_edition("gs://bucket/corpora/wiki40b/uk")    # in one process; send it to the others
    for document in read_share(edition, "train", ["text"], rank=3, ranks=8, seed=1, epoch=0):
        ...

Requires pyarrow, but not corpusmill.
"""

import argparse
import json
import pathlib
import posixpath
import random
import sys
import time
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import pyarrow.parquet as pq
from pyarrow import fs

POLL_SECONDS = 60
DOCUMENT = "document"
TEXTS = ("text", "book_text")  # the column with the text has one of these names


class RowGroup(NamedTuple):
    """A row group of a Parquet file: a block of rows, up to 16 MB of text, that is read as a whole."""

    file: str
    number: int  # index of the row group in the file
    rows: int
    first: int  # index of its first document in the split


def wait_for_edition(corpus: str, wait_seconds: float = 0) -> str:
    """Returns the path of the build to read: the folder `corpus` itself, or a folder in it.

    If the folder has a file CURRENT (written by `corpusmill refresh`), the build is the one that CURRENT
    names. If the folder is a finished build, it is the build. Otherwise, the folder must contain exactly one
    finished build.

    Args:
      corpus: path of the folder, on a disk or in a store (gs://, s3://).
      wait_seconds: maximum time to wait for the file CURRENT. If it is not 0, a folder without CURRENT is
        only accepted if it is a finished build itself.

    Raises TimeoutError if there is no build, ValueError if there are several builds and no file CURRENT.
    """
    files, folder = open_folder(corpus)
    corpus = corpus.rstrip("/")
    last = time.monotonic() + wait_seconds
    while not _is_file(files, f"{folder}/CURRENT"):
        if _is_file(files, f"{folder}/COMPLETED"):
            return corpus
        if time.monotonic() >= last:
            builds = [] if wait_seconds else _finished_builds(files, folder)
            if len(builds) > 1:
                raise ValueError(
                    f"{corpus}: the folder has several builds; use the path of one: {', '.join(builds)}"
                )
            if builds:
                return f"{corpus}/{builds[0]}"
            raise TimeoutError(
                f"{corpus}: there is no edition (no file CURRENT), and the folder is not a finished"
                " build (no file COMPLETED)"
            )
        time.sleep(min(POLL_SECONDS, max(last - time.monotonic(), 0)))
    with files.open_input_file(f"{folder}/CURRENT") as stream:
        return f"{corpus}/{stream.read().decode().strip()}"


def _is_file(files: fs.FileSystem, path: str) -> bool:
    return bool(files.get_file_info(path).type == fs.FileType.File)


def _finished_builds(files: fs.FileSystem, folder: str) -> list[str]:
    below = files.get_file_info(fs.FileSelector(folder, allow_not_found=True))
    return sorted(info.base_name for info in below if _is_file(files, f"{info.path}/COMPLETED"))


def read_share(
    edition: str,
    split: str,
    columns: Sequence[str],
    *,
    rank: int,
    ranks: int,
    seed: int = 0,
    epoch: int = 0,
    start: int = 0,
) -> Iterator[dict[str, Any]]:
    """Yields one process's share of the documents of a split.

    The documents of the split are shuffled. Their order depends only on `seed` and `epoch`. Each process
    gets a sequence of consecutive documents in this order. The sequences have the same length, or differ
    by one document.

    Args:
      edition: folder of a finished build.
      split: name of the split, such as "train".
      columns: columns to return. The extra column "document" is the index of the document in the split, which
        `corpusmill score` requires.
      rank: number of this process, from 0 to `ranks` - 1.
      ranks: number of processes.
      start: number of documents of this epoch that this process has already read, to resume.

    Raises FileNotFoundError if the build is not finished, ValueError for an unknown split or column, or an
    invalid rank.
    """
    if not 0 <= rank < ranks:
        raise ValueError(f"rank must be from 0 to {ranks - 1}, not {rank}")
    files, folder = open_folder(edition)
    if not _is_file(files, f"{folder}/COMPLETED"):
        raise FileNotFoundError(f"{edition}: not a finished build: there is no file COMPLETED")
    there = columns_of(edition, split)
    if missing := [name for name in columns if name not in (DOCUMENT, *there)]:
        raise ValueError(
            f"{edition}: there is no column {', '.join(missing)} in the split {split}; there are"
            f" {', '.join(there)}"
        )
    groups = _list_groups(files, folder, split)
    _chance(seed, epoch).shuffle(groups)
    total = sum(group.rows for group in groups)
    first, end = total * rank // ranks + start, total * (rank + 1) // ranks
    at = 0  # index of the row group's first document in the shuffled order
    for group in groups:
        if at < end and first < at + group.rows:
            rows = _read_group(files, group, columns)
            # The order within a group depends on the group, not on the process that reads it.
            _chance(seed, epoch, posixpath.basename(group.file), group.number).shuffle(rows)
            rows = rows[max(first - at, 0) : end - at]  # frees the memory of the other rows
            yield from rows
        at += group.rows


def open_folder(folder: str) -> tuple[fs.FileSystem, str]:
    """Returns the file system of a folder (a disk or a store), and the path of the folder in it."""
    opened: tuple[fs.FileSystem, str] = fs.FileSystem.from_uri(
        folder if "://" in folder else str(pathlib.Path(folder).absolute())
    )
    return opened


def columns_of(edition: str, split: str, *types: str) -> list[str]:
    """Returns the names of the columns of a split; with `types`, only of those with one of these types.

    Raises ValueError if there is no such split.
    """
    files, folder = open_folder(edition)
    schema = pq.read_schema(_list_files(files, folder, split)[0], filesystem=files)
    return [field.name for field in schema if not types or str(field.type) in types]


def text_column(edition: str, split: str, column: str = "") -> str:
    """Returns the name of the column with the text: `column` or, if it is "", text or book_text.

    Raises ValueError if there is no such column or split, or if the column has no text.
    """
    there = columns_of(edition, split, "string", "large_string")
    wanted = [column] if column else TEXTS
    for name in wanted:
        if name in there:
            return name
    raise ValueError(
        f"{edition}: there is no column {' or '.join(wanted)} with text in the split {split}; there are"
        f" {', '.join(there) or 'none'}"
    )


def _list_files(files: fs.FileSystem, folder: str, split: str) -> list[str]:
    found = files.get_file_info(fs.FileSelector(folder))
    shards = sorted((info.base_name, info.path) for info in found if info.extension == "parquet")
    if not shards:
        raise FileNotFoundError(f"{folder}: no Parquet files with rows: build a corpus with them")
    names = [path for name, path in shards if name.startswith(f"{split}-")]
    if not names:
        splits = dict.fromkeys(name.partition("-")[0] for name, _ in shards)
        raise ValueError(
            f"{folder}: there is no split {split}; there are {', '.join(splits) or 'none'}"
        )
    return names


def _list_groups(files: fs.FileSystem, folder: str, split: str) -> list[RowGroup]:
    groups: list[RowGroup] = []
    first = 0
    for name in _list_files(files, folder, split):
        metadata = pq.read_metadata(name, filesystem=files)
        for number in range(metadata.num_row_groups):
            groups.append(RowGroup(name, number, metadata.row_group(number).num_rows, first))
            first += groups[-1].rows
    return groups


def _read_group(
    files: fs.FileSystem, group: RowGroup, columns: Sequence[str]
) -> list[dict[str, Any]]:
    with pq.ParquetFile(group.file, filesystem=files) as file:
        stored = [name for name in columns if name != DOCUMENT]
        rows: list[dict[str, Any]] = file.read_row_group(group.number, columns=stored).to_pylist()
    if DOCUMENT in columns:
        rows = [row | {DOCUMENT: at} for at, row in enumerate(rows, group.first)]
    return rows


def _chance(*seeds: int | str) -> random.Random:
    return random.Random("/".join(map(str, seeds)))


def main() -> None:
    """Prints the documents that the training process number --rank must read, as JSON lines."""
    parser = argparse.ArgumentParser(
        description="Prints the documents that one of several processes must read, as JSON lines."
    )
    parser.add_argument(
        "--corpus",
        required=True,
        help="folder of a finished build; or of an edition, of which the current or only build is used",
    )
    parser.add_argument(
        "--wait-seconds", type=float, default=0, help="maximum time to wait for a first build"
    )
    parser.add_argument("--split", default="train")
    parser.add_argument("--columns", nargs="+", default=["text"])
    for name, default in (("rank", 0), ("ranks", 1), ("seed", 0), ("epoch", 0), ("start", 0)):
        parser.add_argument(f"--{name}", type=int, default=default)
    settings = vars(parser.parse_args())
    corpus, wait_seconds = settings.pop("corpus"), settings.pop("wait_seconds")
    try:
        edition = wait_for_edition(corpus, wait_seconds)
        print(edition, file=sys.stderr)
        for document in read_share(edition, **settings):
            print(json.dumps(document, ensure_ascii=False, default=str))
    except BrokenPipeError:  # the reader, such as `head`, has enough
        sys.stderr.close()
    except (ValueError, OSError) as error:
        sys.exit(f"read_corpus.py: {error}")


if __name__ == "__main__":
    main()
