"""Reads the facts about a build from which charts are made: manifest, counts and small tables."""

import csv
import io
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import msgspec

from corpusmill.pipelines.run.corpora import rows
from corpusmill.transforms.files.builds.build_manifest import CARD
from corpusmill.transforms.files.builds.dataset_card import read_about
from corpusmill.transforms.files.builds.finished_builds import Build, path_below, read_json
from corpusmill.transforms.files.cells import unprotect
from corpusmill.transforms.files.open_input import InputError, is_there, open_input

STATS = "stats.json"
READ = "_read"
"""The names of counts of input records end with this suffix, as in "pages_read"."""

LEFT_OUT = {
    "duplicates": "repeated",
    "near_duplicates": "near-duplicate",
    "not_drawn": "not drawn",
}
"""Counts of records that are neither rejected nor kept: name in the manifest → name in the report."""


class Facts(NamedTuple):
    """The facts about a build from which the report is made. They are read from the files of the build."""

    build: Build
    unit: str  # of documents, such as "articles"
    stats: Mapping[str, Any]  # stats.json

    @property
    def counts(self) -> Mapping[str, Any]:
        """The counts in the manifest of the build, such as the number of documents in each split."""
        counts: Mapping[str, Any] = self.build.manifest.get("counts", {})
        return counts

    @property
    def kept(self) -> Mapping[str, int]:
        """Name of each split → its number of documents. A split may be part of another split."""
        kept: Mapping[str, int] = self.counts.get("kept", {})
        return {split: count for split, count in kept.items() if split != "total"}

    @property
    def total(self) -> int:
        """The number of all documents. A document that is in two splits counts once."""
        return int(self.counts.get("kept", {}).get("total", 0))

    def name_of(self, start: str, end: str) -> str:
        """Returns the first of the build's file names that begin with `start` and end with `end`.

        Returns "" if there is none.
        """
        return next(iter(self.names_of(start, end)), "")

    def names_of(self, start: str, end: str) -> list[str]:
        """Returns all file names of the build that begin with `start` and end with `end`, sorted."""
        names = (file["name"] for file in self.build.manifest["outputs"])
        return sorted(name for name in names if name.startswith(start) and name.endswith(end))

    def about(self) -> str:
        """Returns what the dataset card says about the corpus; "" if the build has no card."""
        path = path_below(self.build.folder, CARD)
        if not is_there(path):
            return ""
        with io.TextIOWrapper(open_input(path), "utf-8") as card:
            return " ".join(read_about(card.read()).split())

    def rejected_names(self) -> list[str]:
        """Returns the names of the files with Rejected records. Other files may be beside them."""
        return self.names_of("rejected/rejected", ".parquet")

    def read_table(self, name: str) -> Iterator[dict[str, str]]:
        """Yields the rows of the build's tab-separated file `name`, as name of the column → cell."""
        with io.TextIOWrapper(open_input(path_below(self.build.folder, name)), "utf-8") as lines:
            for row in csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE):
                yield {column: unprotect(cell or "") for column, cell in row.items()}


class _Total(msgspec.Struct):
    """The count in stats.json that pages about several builds have."""

    words: int = 0


class _Stats(msgspec.Struct):
    total: _Total = msgspec.field(default_factory=_Total)


class Fate(NamedTuple):
    """A reason for which records were left out, and the number of these records."""

    name: str  # the reason: stage and reason of a rejection, or a value of LEFT_OUT
    records: int


class Balance(NamedTuple):
    """The numbers of records that a build has read, kept and left out. `read` is the sum of
    `left_out` and `kept`.
    """

    unit: str  # of what was read: "pages"
    read: int
    left_out: list[Fate]  # the largest first
    kept: int


def read_facts(build: Build) -> Facts:
    """Reads the counts of a build. Raises InputError if they are missing or damaged."""
    row = rows().get(build.corpus)
    has_stats = any(file["name"] == STATS for file in build.manifest["outputs"])
    # A package of translations has only the counts in its manifest.
    stats = (
        {} if "languages" in build.manifest and not has_stats else read_json(build.folder, STATS)
    )
    try:
        msgspec.convert(stats, _Stats)
    except msgspec.ValidationError as error:
        raise InputError(
            path_below(build.folder, STATS), f"the build is damaged: {error}"
        ) from None
    return Facts(build, row.unit if row else "documents", stats)


def balance_of(facts: Facts) -> Balance | None:
    """Returns the numbers of records that were read, kept and left out; None if the build reads no
    documents.
    """
    counts = facts.counts
    names = [name for name in counts if name.endswith(READ)]
    if not names or "kept" not in counts:
        return None
    rejected = {name: count for name, count in counts["rejected"].items() if name != "total"}
    others = {title: counts.get(name, 0) for name, title in LEFT_OUT.items()}
    fates = [Fate(*one) for one in {**rejected, **others}.items() if one[1]]
    fates.sort(key=lambda fate: (-fate.records, fate.name))
    read = counts[names[0]]
    return Balance(
        unit=names[0].removesuffix(READ),
        read=read,
        left_out=fates,
        kept=read - sum(fate.records for fate in fates),
    )
