"""Builds of PG-19 and SimpleBooks, and what they hold: for the tests of pipelines."""

import csv
import dataclasses
import functools
import gzip
import io
import json
import random
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from corpusmill.pipelines.pg19 import Pg19
from corpusmill.pipelines.run.corpus_build import CorpusBuild
from corpusmill.pipelines.run.launch import launch
from corpusmill.pipelines.sample_builds import sample_pg19, sample_simplebooks
from corpusmill.pipelines.simplebooks import SimpleBooks
from corpusmill.transforms.files.builds.ledger import DOUBTS
from corpusmill.transforms.files.records import Rejected
from tests.makers import book_files, book_samples
from tests.makers.book_samples import ExpectedFile
from tests.makers.wiki_builds import Build
from tests.tools.pack_samples import SAMPLES

GUTENBERG = SAMPLES / "gutenberg"
LIBRARY = GUTENBERG / "library"
EXPECTED = book_samples.load_expected(GUTENBERG)
KEPT = "kept"
REJECTED_FILE = "rejected/rejected-00000-of-00001.parquet"


class BookBuild(Build):
    """A finished build of a corpus of books."""

    def rows(self, split: str) -> list[dict[str, Any]]:
        """The books of a split, in the order of the files."""
        paths = sorted(self.folder.glob(f"{split}-*.parquet"))
        return [row for path in paths for row in pq.read_table(path).to_pylist()]

    def all_rows(self, splits: Iterable[str] = ("train", "validation", "test")) -> dict[int, Any]:
        """Book id → its row, with the split in it. A book must not be there twice."""
        rows = [row | {"split": split} for split in splits for row in self.rows(split)]
        by_id = {row["book_id"]: row for row in rows}
        assert len(by_id) == len(rows)
        return by_id

    def fates(self) -> list[tuple[str, str]]:
        """(book id, or name of a file that has none, what became of it), of every file, sorted."""
        kept = [(str(book_id), KEPT) for book_id in self.all_rows()]
        return sorted(kept + [(one.id, f"{one.stage}/{one.reason}") for one in self.rejected()])

    def check_accounts(self, corpus: str) -> None:
        """Asserts that the counts of the manifest are those of the files of the sample."""
        counts, fates = self.manifest["counts"], expected_fates(corpus)
        by_reason = Counter(fate for _, fate in fates)
        kept = by_reason.pop(KEPT)
        assert counts["files_read"] == len(fates)
        assert counts["rejected"] == by_reason | {"total": len(fates) - kept}
        assert counts["kept"]["total"] == kept
        assert self.manifest["lost"] == self.manifest["caveats"] == []
        self.check_files()

    def table(self, name: str) -> list[dict[str, str]]:
        """The rows of the table of that name, in its order."""
        (path,) = self.folder.glob(f"{name}-*.tsv")
        lines = io.StringIO(path.read_text("utf-8"), newline="")
        return list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))

    def lines(self, name: str) -> list[str]:
        """The lines of a text file."""
        *lines, end = (self.folder / name).read_text("utf-8").split("\n")
        assert end == ""
        return lines

    def tree_but_names(self) -> dict[str, Any]:
        """All but what names a file of the input: the manifest is without inputs and what hangs on them, and
        the rejected files, whose ids and details have such names, are counted there all the same."""
        tree: dict[str, Any] = self.tree()
        del tree["COMPLETED"], tree[REJECTED_FILE]
        manifest = json.loads(tree["manifest.json"])
        del manifest["inputs"]
        manifest["outputs"] = [
            file for file in manifest["outputs"] if file["name"] != REJECTED_FILE
        ]
        return tree | {"manifest.json": manifest}

    def rejected_by_base_name(self) -> list[Rejected]:
        """Rejections, of files without an id with the last part of their name, sorted; without details, which
        name other files."""
        rejected = (
            one._replace(id=one.id.rpartition("/")[2], detail="") for one in self.rejected()
        )
        return sorted(rejected)


def _build(
    method: type[CorpusBuild],
    sample: Any,
    output: Path,
    books: Iterable[object] = (),
    workers: int = 1,
    **how: Any,
) -> BookBuild:
    """Builds a corpus of the sample, or of other files, with its settings or others."""
    others = how | ({"books": [str(path) for path in books]} if books else {})
    corpus = method(dataclasses.replace(sample, **others))  # type: ignore[call-arg]
    launch(corpus, str(output), workers=workers, accept=DOUBTS)
    return BookBuild(output.joinpath(*corpus.path))


build_pg19 = functools.partial(_build, Pg19, sample_pg19())
build_simplebooks = functools.partial(_build, SimpleBooks, sample_simplebooks())


def expected_fates(corpus: str) -> list[tuple[str, str]]:
    """(id, what shall become of it) of every file of the sample, sorted."""
    numbers = {
        file["path"]: str(book.number)
        for book in book_samples.load_books(GUTENBERG)
        for file in book.table["file"]
        if book.number
    }
    return sorted((numbers.get(file.path, file.path), getattr(file, corpus)) for file in EXPECTED)


def expected_files() -> dict[int, ExpectedFile]:
    """Book id → what is expected of the file that is taken for it."""
    others = "choose-file/other-file-of-book"
    taken = {file.path: file for file in EXPECTED if file.pg19 != others}
    return {
        book.number: taken[file["path"]]
        for book in book_samples.load_books(GUTENBERG)
        for file in book.table["file"]
        if file["path"] in taken
    }


def sample_files(seed: int) -> dict[str, bytes]:
    """The files of books of the sample, unpacked, by the last part of their names, in another order."""
    files = list(book_samples.library_files(GUTENBERG).items())
    random.Random(seed).shuffle(files)
    return {path.rpartition("/")[2].removesuffix(".gz"): content for path, content in files}


def pack_sample(folder: Path, how: str, seed: int = 1) -> Path:
    """The files of books of the sample, packed in another way: "loose" or "tar.gz"; gives what to read."""
    files = sample_files(seed)
    if how == "loose":
        for place, (name, content) in enumerate(files.items()):
            path = folder / "loose" / f"{place * 7 % 10}" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        return folder / "loose"
    packed = folder / f"sample.{how}"
    packed.write_bytes(gzip.compress(book_files.tar_file(files), mtime=0))
    return packed
