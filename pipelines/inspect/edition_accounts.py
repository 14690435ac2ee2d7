"""Computes the counts and card of a build that was made by removing documents or passages from another
build.
"""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from corpusmill.pipelines.inspect.measure_documents import Measure
from corpusmill.transforms.files.builds.build_manifest import Provenance
from corpusmill.transforms.files.builds.dataset_card import not_kept
from corpusmill.transforms.files.builds.ledger import Accounts, Ledger, balance
from corpusmill.transforms.files.builds.lengths import histograms
from corpusmill.transforms.files.markdown import make_table
from corpusmill.transforms.files.records import SubwordStats


@dataclasses.dataclass(frozen=True)
class EditionAccounts:
    """Computes the counts of a build that was made from another build.

    The fields are facts that are known before the new build is written.
    """

    unit: str  # "articles"
    splits: Sequence[str]
    whole: Sequence[str]  # splits that together contain each document once
    formats: Sequence[str]  # formats of the files of each split
    measure: Measure
    made_of: Mapping[str, Any]  # origin of the build, for the manifest
    about: str  # line of the dataset card about the origin
    # findings about the original build that are also true for the new build
    findings: Mapping[str, Any]

    def __call__(self, ledger: Ledger, provenance: Provenance) -> Accounts:
        """Returns the counts, statistics and card sections of the build.

        The ledger has all counts that were collected while the build was written. In addition to
        the entries of every build, it has the following:
          stats: list of pairs (split, counts).
          pieces: list of pairs (split, SubwordStats).
          lengths: list of pairs ((split, length class), number of documents).
          rows: list of the pairs ("read", number of documents read) and ("changed", number of documents
            changed).
          named: number of documents to remove or change.

        Raises AccountingError if the counts do not add up.
        """
        measure = self.measure
        per_split = ledger.per_split("stats", self.splits, measure.empty)
        total = measure.add(per_split[split] for split in self.whole)
        kept = {split: measure.documents(counts) for split, counts in per_split.items()}
        kept["total"] = measure.documents(total)
        rows, rejected = ledger.pairs("rows"), ledger.rejected
        read, changed = rows.get("read", 0), rows.get("changed", 0)
        balance(read, f"{self.unit} of the build", kept=kept["total"], rejected=rejected["total"])
        found = {"changed": changed, "rejected": rejected["total"]}
        balance(ledger.number("named"), f"{self.unit} to be removed or changed", **found)
        for split in self.splits:
            ledger.check_files(split, kept[split], self.unit, self.formats)
        stats = {split: dict(measure.describe(counts)) for split, counts in per_split.items()}
        stats["total"] = dict(measure.describe(total))
        if measure.length:
            for split, histogram in histograms(ledger, kept, self.whole).items():
                stats[split][f"{self.unit}_by_{measure.length}"] = histogram
        _add_pieces(stats, ledger.pairs("pieces"), self.whole)
        numbers = [name for name, value in stats["total"].items() if isinstance(value, int)]
        return Accounts(
            counts={
                f"{self.unit}_read": read,
                "kept": kept,
                "changed": changed,
                "rejected": rejected,
            },
            stats=stats,
            sections=[
                self.about,
                "",
                *make_table(
                    ["split", *(name.replace("_", " ") for name in numbers)],
                    ([split, *(of[name] for name in numbers)] for split, of in stats.items()),
                ),
                *not_kept(read, self.unit, rejected),
            ],
            findings={"made_of": self.made_of, "stats": stats, **self.findings},
        )


def _add_pieces(
    stats: dict[str, dict[str, Any]], pieces: Mapping[str, SubwordStats], whole: Sequence[str]
) -> None:
    if not pieces:
        return
    of_splits = {split: pieces.get(split, SubwordStats()) for split in whole}
    total = SubwordStats(*map(sum, zip(*of_splits.values(), strict=True)))
    for split, counts in {**of_splits, "total": total}.items():
        balance(stats[split]["characters"], f"characters of {split}", in_pieces=counts.characters)
        stats[split] |= counts._asdict()
