"""Computes the counts, statistics and dataset card of a build of multilingual vocabularies.

The card has a table like Table 6 of Guo et al. 2020, the paper of Wiki-40B.
"""

import dataclasses
import itertools
from collections.abc import Mapping, Sequence
from typing import Any

from corpusmill.transforms.files.builds.build_manifest import Description, Provenance
from corpusmill.transforms.files.builds.ledger import Accounts, Ledger, balance
from corpusmill.transforms.files.fingerprint import SPLITS
from corpusmill.transforms.files.markdown import make_table
from corpusmill.transforms.files.records import SubwordStats
from corpusmill.transforms.models.subwords import TrainedSubwords, add_subword_stats

MEASURED = ("validation", "test")  # splits on which pieces are counted, as in the paper
ABSENT = "–"
KIND = "wiki40b-vocabulary"  # corpus name in the manifest, because the build has no articles
DESCRIPTION = Description(
    title="Wiki-40B: multilingual SentencePiece vocabularies",
    closing="Every build that was read, by the SHA-256 of its manifest: `manifest.json`.",
)

BuildStats = Mapping[str, Mapping[str, int]]  # split → counts: stats.json of a build
Counts = dict[str, dict[str, dict[str, dict[str, Any]]]]  # vocabulary → edition → split → counts

USE = """\
```python
import sentencepiece

pieces = sentencepiece.SentencePieceProcessor(model_file="sentencepiece/{first}.model")
pieces.encode(text)  # each marker of the layout is one piece; decode() gives the text again
```"""


@dataclasses.dataclass(frozen=True)
class SubwordAccounts:
    """Computes the counts, statistics and dataset card of a build of multilingual vocabularies.

    The fields are the figures that are known before the vocabularies are trained.
    """

    builds: Mapping[str, BuildStats]  # edition → stats of the build
    sampled: Mapping[str, int]  # edition → number of its articles in the training sample
    paper: Mapping[str, Sequence[float]]
    """Edition → characters per piece in the paper, for its 32k, 64k and 128k vocabularies."""

    def __call__(self, ledger: Ledger, provenance: Provenance) -> Accounts:
        """Returns the counts, statistics and sections of the dataset card of the build.

        `provenance` has the facts about the build that were known before it ran, such as its settings.

        The ledger contains the counts of all stages of the build. In addition to the entries of every build,
        it has:
          trained: (name of a vocabulary, TrainedSubwords).
          stats: ((name of a vocabulary, language edition of Wiki-40B, split), SubwordStats).

        Raises AccountingError if the number of characters of a split differs from the number in the build of
        its edition.
        """
        trained: Mapping[str, TrainedSubwords] = ledger.pairs("trained")
        by_size = sorted(trained, key=lambda name: provenance.settings["vocabularies"][name])
        summaries = {name: trained[name].summary() for name in by_size}
        counted = ledger.pairs("stats")
        stats: Counts = {
            name: {
                edition: {
                    split: counted.get((name, edition, split), SubwordStats())._asdict()
                    for split in SPLITS
                }
                for edition in sorted(self.builds)
            }
            for name in by_size
            if trained[name].model
        }
        for name, edition, split in itertools.product(stats, self.builds, SPLITS):
            balance(
                self.builds[edition][split]["characters"],
                f"characters of {split} of {edition}",
                **{f"counted in {name}": stats[name][edition][split]["characters"]},
            )
        return Accounts(
            counts={"sampled": dict(sorted(self.sampled.items()))},
            stats=stats,
            sections=_make_sections(
                summaries, stats, own_characters_per_piece(self.builds), self.paper
            ),
            findings={"sentencepiece": summaries},
        )


def own_characters_per_piece(builds: Mapping[str, BuildStats]) -> dict[str, float]:
    """Returns edition → mean number of characters per piece in its validation and test splits.

    The editions are the language editions of Wiki-40B. The pieces are those of the vocabulary that is part of
    the build of the edition. An edition whose build has no vocabulary is left out.

    Args:
      builds: edition → the counts of each split of its build.
    """
    own = {}
    for edition, stats in builds.items():
        pieces = sum(stats[split].get("pieces", 0) for split in MEASURED)
        if pieces:
            own[edition] = sum(stats[split]["characters"] for split in MEASURED) / pieces
    return own


def _make_sections(
    vocabularies: Mapping[str, Mapping[str, Any]],
    stats: Counts,
    own: Mapping[str, float],
    paper: Mapping[str, Sequence[float]],
) -> list[str]:
    names = list(stats)
    lines = [
        "Trained on the first articles of train, equally many of each language; built with corpusmill after"
        " Guo et al., LREC 2020, section 3.",
        "",
        *_vocabularies(vocabularies),
    ]
    if names:
        lines += [
            "",
            USE.format(first=f"multilingual-{names[0]}"),
            "",
            "Characters per piece over validation and test together (a marker counts as one character), and"
            " those of the paper (its Table 6). The 32k vocabularies of the paper are for one language each,"
            " as is the vocabulary of each build (own). Coverage is the share of characters with a piece of"
            " their own; all others are spelled in bytes, so none is lost. The paper has 99.8 to 99.9 %.",
            "",
            *_languages(names, stats, own, paper),
        ]
    return lines


def _vocabularies(vocabularies: Mapping[str, Mapping[str, Any]]) -> list[str]:
    rows = [
        [name, f"{one['vocabulary_size']:,}", f"{one['sampled_articles']:,}"]
        for name, one in vocabularies.items()
    ]
    table = make_table(["vocabulary", "pieces", "learned from articles"], rows)
    reasons = {name: one["reason"] for name, one in vocabularies.items() if one["reason"]}
    missing = [f"- There is no {name}: {reason}" for name, reason in reasons.items()]
    return [*table, "", *missing] if missing else table


def _languages(
    names: Sequence[str],
    stats: Counts,
    own: Mapping[str, float],
    paper: Mapping[str, Sequence[float]],
) -> list[str]:
    columns = ["language", "own", "paper 32k"]
    for name in names:
        columns += [name, f"paper {name}", f"coverage {name}"]
    rows = []
    for edition in stats[names[0]]:
        of_paper = dict(zip(("32k", "64k", "128k"), paper.get(edition, ()), strict=False))
        row = [edition, _figure(own.get(edition)), _figure(of_paper.get("32k"))]
        for name in names:
            measured = _measured(stats[name][edition])
            row += [
                _figure(measured.characters_per_piece if measured.pieces else None),
                _figure(of_paper.get(name)),
                f"{100 * measured.own_piece_coverage:.2f} %" if measured.pieces else ABSENT,
            ]
        rows.append(row)
    return make_table(columns, rows)


def _measured(per_split: Mapping[str, Mapping[str, int]]) -> SubwordStats:
    return add_subword_stats([SubwordStats(**per_split[split]) for split in MEASURED])


def _figure(value: float | None) -> str:
    return ABSENT if value is None else f"{value:.3f}"
