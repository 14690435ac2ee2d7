"""Documents of a corpus for one of many processes that train: its share, in an order that all agree on.

    python read_corpus.py --corpus /srv/corpora/wiki40b/uk --rank 3 --ranks 8

prints them as JSON lines; in a program of your own:

    edition = wait_for_edition("gs://bucket/corpora/wiki40b/uk")    # by one process, which tells the others
    for document in read_share(edition, "train", ["text"], rank=3, ranks=8, seed=1, epoch=0):
        ...

It needs pyarrow and nothing of corpusmill.
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


class RowGroup(NamedTuple):
    """The rows that are read at once: up to 16 MB of text."""

    file: str
    number: int  # in the file
    rows: int
    first: int  # place of its first document in the split


def wait_for_edition(corpus: str, wait_seconds: float = 0) -> str:
    """The folder to read: the current edition of a corpus, its only build, or the folder itself.

    Args:
      corpus: folder with the file CURRENT, as `corpusmill refresh` keeps it; or of a finished build; or with
        one finished build in it. On a disk or in a store (gs://, s3://).
      wait_seconds: how long to wait for a first edition that CURRENT names.

    Raises TimeoutError when there is none, ValueError for several builds of which CURRENT names none.
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
                raise ValueError(f"{corpus}: name one of its builds: {', '.join(builds)}")
            if builds:
                return f"{corpus}/{builds[0]}"
            raise TimeoutError(
                f"{corpus}: there is no edition, as there is no file CURRENT, and it is not a finished"
                " build, which has a file COMPLETED"
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
    """Documents of a split that one process of many reads.

    All documents of the split, in an order that depends on the seed and the epoch alone, are cut into as many
    runs as there are processes, none more than a document longer than another. To go on after a stop, hand in
    as `start` how many documents of the epoch this process has had.

    The column "document", which no file has, is the place of the document in the split, which
    `corpusmill score` asks for.

    Raises FileNotFoundError for a build that is not finished, ValueError for a split that it lacks and for a
    rank that there is not.
    """
    if not 0 <= rank < ranks:
        raise ValueError(f"there is no rank {rank} of {ranks}")
    files, folder = open_folder(edition)
    if not _is_file(files, f"{folder}/COMPLETED"):
        raise FileNotFoundError(f"{edition}: no finished build, as there is no file COMPLETED")
    groups = _list_groups(files, folder, split)
    _chance(seed, epoch).shuffle(groups)
    total = sum(group.rows for group in groups)
    first, end = total * rank // ranks + start, total * (rank + 1) // ranks
    at = 0  # place of the group's first document in the order
    for group in groups:
        if at < end and first < at + group.rows:
            rows = _read_group(files, group, columns)
            # What a group has of its own order depends on which group it is, not on who reads it.
            _chance(seed, epoch, posixpath.basename(group.file), group.number).shuffle(rows)
            rows = rows[max(first - at, 0) : end - at]  # the others need no memory
            yield from rows
        at += group.rows


def open_folder(folder: str) -> tuple[fs.FileSystem, str]:
    """The file system of a folder, and its path there; a store or a disk."""
    opened: tuple[fs.FileSystem, str] = fs.FileSystem.from_uri(
        folder if "://" in folder else str(pathlib.Path(folder).absolute())
    )
    return opened


def _list_groups(files: fs.FileSystem, folder: str, split: str) -> list[RowGroup]:
    selector = fs.FileSelector(folder)
    names = sorted(
        info.path
        for info in files.get_file_info(selector)
        if info.base_name.startswith(f"{split}-") and info.extension == "parquet"
    )
    if not names:
        raise ValueError(f"{folder}: there is no split {split}")
    groups: list[RowGroup] = []
    first = 0
    for name in names:
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
    """Prints a share."""
    parser = argparse.ArgumentParser(description="Prints the documents of one of many processes.")
    parser.add_argument(
        "--corpus",
        required=True,
        help="folder of a finished build, or of a corpus: its current or only one",
    )
    parser.add_argument("--wait-seconds", type=float, default=0, help="for a first build")
    parser.add_argument("--split", default="train")
    parser.add_argument("--columns", nargs="+", default=["text"])
    for name, default in (("rank", 0), ("ranks", 1), ("seed", 0), ("epoch", 0), ("start", 0)):
        parser.add_argument(f"--{name}", type=int, default=default)
    settings = vars(parser.parse_args())
    corpus, wait_seconds = settings.pop("corpus"), settings.pop("wait_seconds")
    edition = wait_for_edition(corpus, wait_seconds)
    print(edition, file=sys.stderr)
    for document in read_share(edition, **settings):
        print(json.dumps(document, ensure_ascii=False, default=str))


if __name__ == "__main__":
    main()
