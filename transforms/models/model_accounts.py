"""Computes the counts, statistics and dataset card of a build of a multilingual vocabulary.

Computes the counts, statistics and dataset card of a build of multilingual vocabularies.

The card has a table like Table 6 of Guo et al. 2020, the paper of Wiki-40B.

Computes the counts, statistics and dataset card of a build of an n-gram model.
"""

import dataclasses
import itertools
from collections.abc import Mapping, Sequence
from typing import Any

from ..files.builds.ledger import Accounts, Ledger, balance
from ..files.builds.manifest import Description, Provenance
from ..files.markup import make_table
from ..files.records import SubwordStats
from ..files.text import SPLITS
from .gram_tables import Tally
from .sentence_sampling import Choice, Share
from .smoothing import FALLBACK, estimate_discounts
from .subword_models import PieceStats, TrainedPieces, TrainedSubwords, add_subword_stats

ABSENT = "–"
NO_SHARE = Share(0, 0.0, 0)
KINDS = HELD_OUT_KIND, EVALUATED = ("held_out", "evaluated")
PIECES_DESCRIPTION = Description(
    title="SentencePiece vocabulary over many languages",
    closing="Every build and file that was read, with its SHA-256: `manifest.json`.",
)

PIECES_USE = """\
```python
import sentencepiece

pieces = sentencepiece.SentencePieceProcessor(model_file="sentencepiece.model")
pieces.encode("…", out_type=str)
```

With `corpusmill score spbleu --model sentencepiece.model`, spBLEU is computed over these pieces."""


def account_for_pieces(ledger: Ledger, provenance: Provenance) -> Accounts:
    """Returns the counts, statistics and sections of the dataset card of a build of a vocabulary.

    `provenance` has the facts about the build that were known before it ran, such as its settings.

    The ledger contains the counts of all stages of the build. In addition to the entries of every build, it
    has:
      trained: one TrainedPieces.
      choices: one mapping: language → Choice, the rule by which its sentences are sampled.
      sampled: (language, number of sampled sentences).
      stats: ((kind, language), PieceStats). The kind of a text is "held_out" or "evaluated".

    Raises AccountingError if the number of sampled sentences of a language is not the planned number.
    """
    choices: Mapping[str, Choice] = ledger.one("choices")
    sampled = ledger.pairs("sampled")
    for language, choice in sorted(choices.items()):
        balance(choice.share.wanted, f"sentences of {language}", sampled=sampled.get(language, 0))
    stats = _make_stats(choices, ledger.pairs("stats"), ledger.one("trained"))
    rejected = ledger.rejected
    del rejected["total"]
    return Accounts(
        counts={
            "sentences": stats["total"]["sentences"],
            "sampled": stats["total"]["sampled"],
            "rejected_lines": rejected,
        },
        stats=stats,
        sections=_make_pieces_sections(provenance.settings, stats),
        findings={"stats": stats},
    )


def _make_stats(
    choices: Mapping[str, Choice],
    counted: Mapping[tuple[str, str], PieceStats],
    trained: TrainedPieces,
) -> dict[str, Any]:
    """Returns the counts of each language that is sampled or evaluated, and their total.

    Args:
      choices: language → the rule by which its sentences are sampled.
      counted: (kind, language) → counts of the pieces of a text; the kind is "held_out" or "evaluated".
      trained: the trained model.
    """
    languages = {
        name: _sampling_of(choices[name].share if name in choices else NO_SHARE)
        | {kind: counted[kind, name]._asdict() for kind in KINDS if (kind, name) in counted}
        for name in sorted({*choices, *(language for _, language in counted)})
    }
    total = {
        "languages": len(choices),
        "sentences": sum(choice.share.sentences for choice in choices.values()),
        "sampled": sum(choice.share.wanted for choice in choices.values()),
        "different_words": trained.words,
        "words": trained.occurrences,
        "rare_words_passed_over": trained.rare_words,
        "pieces": trained.pieces,
    }
    return {"total": total, "languages": languages}


def _sampling_of(share: Share) -> dict[str, Any]:
    return {
        "sentences": share.sentences,
        "probability": share.probability,
        "sampled": share.wanted,
        "times": share.times,
        "once_more": share.once_more,
    }


def _make_pieces_sections(settings: Mapping[str, Any], stats: Mapping[str, Any]) -> list[str]:
    total = stats["total"]
    return [
        f"{total['pieces']:,} pieces, learned from {total['sampled']:,} sentences of {total['languages']:,}"
        f" languages, sampled with temperature {settings['temperature']}: the share of a language with n of"
        f" all N sentences is proportional to (n/N)^(1/{settings['temperature']}). Built with corpusmill"
        " after Goyal et al., 2022 (FLORES-101), section 5.2.",
        "",
        "If a language has fewer sentences than its share, each is taken equally often, and those with the"
        " smallest fingerprints once more. If it has more, those with the smallest fingerprints are taken.",
        "",
        PIECES_USE,
        "",
        f"Normalised by {settings['normalization']}; character coverage {settings['character_coverage']};"
        f" {'bytes for characters without a piece' if settings['byte_fallback'] else 'no byte fallback'}."
        " The unknown rate is the share of `<unk>` among the pieces. In the paper, measured on FLORES-101"
        " with 256,000 pieces and 100M sentences, it is 3.8 % for Tagalog, the highest, and below 1 % for all"
        " others. Held-out text is validation and test of a build, or sentences of a file of lines that were"
        " not sampled.",
        "",
        *_languages_of_pieces(stats["languages"]),
    ]


def _languages_of_pieces(languages: Mapping[str, Mapping[str, Any]]) -> list[str]:
    columns = ["language", "sentences", "share", "sampled", "times"]
    for kind in KINDS:
        name = kind.replace("_", " ")
        columns += [f"lines {name}", "characters per piece", "unknown"]
    return make_table(columns, [_row(name, one) for name, one in languages.items()])


def _row(name: str, counts: Mapping[str, Any]) -> Sequence[str | int]:
    sampled: Sequence[str | int] = (ABSENT,) * 4  # values for a language that was only evaluated
    if counts["sentences"]:
        share, times = 100 * counts["probability"], counts["sampled"] / counts["sentences"]
        sampled = counts["sentences"], f"{share:.2f} %", counts["sampled"], f"{times:.3g}"
    return [name, *sampled, *(cell for kind in KINDS for cell in _figures(counts.get(kind)))]


def _figures(counts: Mapping[str, int] | None) -> Sequence[str | int]:
    if counts is None:
        return ABSENT, ABSENT, ABSENT
    stats = PieceStats(**counts)
    return stats.lines, f"{stats.characters_per_piece:.3f}", f"{100 * stats.unknown_rate:.2f} %"


MEASURED = ("validation", "test")  # splits on which pieces are counted, as in the paper
KIND = "wiki40b-vocabulary"  # corpus name in the manifest, because the build has no articles
SUBWORDS_DESCRIPTION = Description(
    title="Wiki-40B: multilingual SentencePiece vocabularies",
    closing="Every build that was read, by the SHA-256 of its manifest: `manifest.json`.",
)

BuildStats = Mapping[str, Mapping[str, int]]  # split → counts: stats.json of a build
Counts = dict[str, dict[str, dict[str, dict[str, Any]]]]  # vocabulary → edition → split → counts

SUBWORDS_USE = """\
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
            sections=_make_subwords_sections(
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


def _make_subwords_sections(
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
            SUBWORDS_USE.format(first=f"multilingual-{names[0]}"),
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


NGRAMS_DESCRIPTION = Description(
    title="N-gram model",
    closing="The build, with its SHA-256: `manifest.json`.",
)

NGRAMS_USE = """\
```
corpusmill score {metric} --corpus <folder of the build> --split {split} \\
  --log-likelihood log-likelihoods/{split}.parquet
```

`model.arpa` is read by KenLM (`build_binary model.arpa model.binary`), SRILM and others:

```python
import kenlm

kenlm.Model("model.arpa").score("a sentence of words", bos=True, eos=True)  # log10
```"""


def account_for_ngrams(ledger: Ledger, provenance: Provenance) -> Accounts:
    """Returns the counts, statistics and sections of the dataset card of an n-gram model.

    `provenance` has the facts about the build that were known before it ran, such as its settings.

    The ledger contains the counts of all stages of the build. In addition to the entries of every build, it
    has:
      counted: (split, TextCounts of its text).
      expected: (split, its number of documents in the build of the corpus from which the model is made).
      tallies: (order, Tally).
      entries: (order, number of n-grams in the model).
      scores: (split, its SplitScore as a mapping).

    Raises AccountingError if the number of documents read or scored differs from the expected number.
    """
    found = sorted(ledger.pairs("counted").items(), key=lambda one: (one[0] != "train", one[0]))
    counted = {split: counts._asdict() for split, counts in found}
    scores = dict(sorted(ledger.pairs("scores").items()))
    for split, rows in ledger.pairs("expected").items():
        documents = counted.get(split, {}).get("documents", 0)
        balance(rows, f"documents of {split}", read=documents)
        if split != "train":
            balance(rows, f"documents of {split}", scored=scores.get(split, {}).get("documents", 0))
    entries = ledger.pairs("entries")
    has_discounts = provenance.settings["smoothing"] == "kneser-ney"
    orders = {
        str(order): _describe(tally, entries[order], has_discounts=has_discounts)
        for order, tally in sorted(ledger.pairs("tallies").items())
    }
    stats = {
        **counted,
        "total": {name: sum(one[name] for one in counted.values()) for name in counted["train"]},
        "orders": orders,
        "scores": scores,
    }
    return Accounts(
        counts={
            "documents_read": stats["total"]["documents"],
            "documents": {split: one["documents"] for split, one in counted.items()},
            "ngrams": {order: one["ngrams"] for order, one in orders.items()},
        },
        stats=stats,
        sections=_make_ngrams_sections(provenance.settings, stats),
        findings={"orders": orders, "scores": scores},
        caveats=(*_find_caveats(orders), *_say_unknown(provenance.settings, scores)),
    )


def _describe(tally: Tally, grams: int, *, has_discounts: bool) -> dict[str, Any]:
    found = {
        "ngrams": grams,  # unigrams include <s> and <unk>
        "counted": tally.grams,
    }
    if not has_discounts:
        return found
    discounts = estimate_discounts(tally)
    return {
        **found,
        "counts_of_counts": list(tally.of_count),
        "discounts": list(discounts.of_count[1:]),
        "is_fallback": discounts.is_fallback,
    }


def _find_caveats(orders: Mapping[str, Any]) -> tuple[str, ...]:
    fallback = [order for order, one in orders.items() if one.get("is_fallback")]
    if not fallback:
        return ()
    return (
        f"The text has too few n-grams of {', '.join(fallback)} words to estimate their discounts:"
        f" they are {', '.join(map(str, FALLBACK[1:]))}, as of lmplz"
        " --discount_fallback.",
    )


def _say_unknown(settings: Mapping[str, Any], scores: Mapping[str, Any]) -> tuple[str, ...]:
    """Returns a warning if scored words are not in the vocabulary of the model. Otherwise returns ().

    Also returns () if the setting `is_listed` is True, that is, if the build lists the log-likelihood of each
    word. It does so for corpora such as One Billion Word, whose scores are perplexities. The papers of these
    corpora also compute perplexities with unknown words.

    Args:
      settings: the settings of the build.
      scores: split → its scores. Here only the numbers of tokens and of unknown words are used.
    """
    unknown = sum(one["unknown_words"] for one in scores.values())
    if settings["is_listed"] or not unknown:
        return ()
    tokens = sum(one["tokens"] for one in scores.values())
    return (
        f"Of {tokens:,} words and ends of sentences that are scored, {unknown:,} are `<unk>`, which costs"
        " less than to spell them: the scores cannot be compared with those of models of an open vocabulary.",
    )


def _make_ngrams_sections(settings: Mapping[str, Any], stats: Mapping[str, Any]) -> Sequence[str]:
    scores = stats["scores"]
    metric = "perplexity" if settings["is_listed"] else "bpc"
    return [
        f"A model of n-grams of 1 to {settings['order']} words, {settings['smoothing']}, of train of"
        f" `{settings['build']}`. Words that train has less than"
        f" {settings['min_count']} times are `<unk>`.",
        "",
        *make_table(
            [
                "n-grams of words",
                "in the model",
                "in train",
                "discounts of counts 1, 2, 3 and more",
            ],
            [
                [
                    order,
                    f"{one['ngrams']:,}",
                    f"{one['counted']:,}",
                    ", ".join(f"{discount:.4f}" for discount in one.get("discounts", ())) or "none",
                ]
                for order, one in stats["orders"].items()
            ],
        ),
        "",
        "Perplexity per token (words and ends of sentences), with and without unknown words:",
        "",
        *make_table(
            ["split", "documents", "words and ends", "unknown", "perplexity", "without unknown"],
            [
                [
                    split,
                    f"{one['documents']:,}",
                    f"{one['tokens']:,}",
                    f"{one['unknown_words']:,}",
                    f"{one['perplexity']:.4f}",
                    f"{one['perplexity_without_unknown']:.4f}",
                ]
                for split, one in scores.items()
            ],
        ),
        "",
        "The log-likelihood of each document is in `log-likelihoods/`, as `corpusmill score` takes it:",
        "",
        *(NGRAMS_USE.format(split=split, metric=metric) for split in list(scores)[:1]),
        "",
    ]
