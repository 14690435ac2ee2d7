"""Computes the counts, statistics and dataset card of a build of a multilingual vocabulary.

Computes the counts, statistics and dataset card of a build of an n-gram model.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from ..files.builds.ledger import Accounts, Ledger
from ..files.builds.manifest import Description, Provenance
from ..files.markup import render
from .gram_tables import Tally
from .sentence_sampling import Choice, Share
from .smoothing import FALLBACK, estimate_discounts
from .subword_models import TrainedPieces

KINDS = HELD_OUT_KIND, EVALUATED = ("held_out", "evaluated")
PIECES_DESCRIPTION = Description(
    title="SentencePiece vocabulary over many languages",
    closing="Every build and file that was read, with its SHA-256: `manifest.json`.",
)


def account_for_pieces(
    ledger: Ledger, provenance: Provenance, beside: Mapping[str, tuple[str, str]] = {}
) -> Accounts:
    """Returns the counts, statistics and sections of the dataset card of a build of a vocabulary.

    Args:
      ledger: the counts of all stages, see below.
      provenance: the facts about the build that were known before it ran, such as its settings.
      beside: language → (characters per piece in the paper of Wiki-40B, what differs from the paper).

    The ledger contains the counts of all stages of the build. In addition to the entries of every build, it
    has:
      trained: one TrainedPieces.
      choices: one mapping: language → Choice, the rule by which its sentences are sampled.
      sampled: (language, number of sampled sentences).
      stats: ((kind, language), PieceStats), or SubwordStats if the vocabulary is learned from articles. The
        kind of a text is "held_out" or "evaluated".

    Raises AccountingError if the number of sampled sentences of a language is not the planned number.
    """
    articles = provenance.settings.get("articles", 0)
    unit = "articles" if articles else "sentences"
    choices: Mapping[str, Choice] = ledger.one("choices")
    sampled = ledger.pairs("sampled")
    for language, choice in sorted(choices.items()):
        ledger.balance(
            choice.share.wanted, f"{unit} of {language}", sampled=sampled.get(language, 0)
        )
    counted = ledger.pairs("stats")
    stats = _make_stats(choices, counted, ledger.one("trained"), unit)
    rejected = ledger.rejected
    del rejected["total"]
    return Accounts(
        counts={
            unit: stats["total"][unit],
            "sampled": stats["total"]["sampled"],
            "rejected_lines": rejected,
        },
        stats=stats,
        sections=render(
            "pieces",
            settings=provenance.settings,
            stats=stats,
            measured=counted,
            articles=articles,
            beside=beside,
        ),
        findings={"stats": stats},
        caveats=_say_few(choices, articles),
    )


def _say_few(choices: Mapping[str, Choice], articles: int) -> tuple[str, ...]:
    few = [
        f"{name} {choice.share.sentences:,}"
        for name, choice in sorted(choices.items())
        if choice.share.sentences < articles
    ]
    if not few:
        return ()
    return (
        f"Languages with fewer than {articles:,} articles of train, which weigh less than the others:"
        f" {', '.join(few)}.",
    )


def _make_stats(
    choices: Mapping[str, Choice],
    counted: Mapping[tuple[str, str], Any],
    trained: TrainedPieces,
    unit: str,
) -> dict[str, Any]:
    """Returns the counts of each language that is sampled or evaluated, and their total.

    Args:
      choices: language → the rule by which its sentences are sampled.
      counted: (kind, language) → counts of the pieces of a text; the kind is "held_out" or "evaluated".
      trained: the trained model.
      unit: what is sampled, "sentences" or "articles".
    """
    languages = {
        name: _sampling_of(choices[name].share if name in choices else Share(0, 0.0, 0), unit)
        | {kind: counted[kind, name]._asdict() for kind in KINDS if (kind, name) in counted}
        for name in sorted({*choices, *(language for _, language in counted)})
    }
    total = {
        "languages": len(choices),
        unit: sum(choice.share.sentences for choice in choices.values()),
        "sampled": sum(choice.share.wanted for choice in choices.values()),
        "different_words": trained.words,
        "words": trained.occurrences,
        "rare_words_passed_over": trained.rare_words,
        "pieces": trained.pieces,
    }
    return {"total": total, "languages": languages}


def _sampling_of(share: Share, unit: str) -> dict[str, Any]:
    return {
        unit: share.sentences,
        "probability": share.probability,
        "sampled": share.wanted,
        "times": share.times,
        "once_more": share.once_more,
    }


NGRAMS_DESCRIPTION = Description(
    title="N-gram model",
    closing="The build, with its SHA-256: `manifest.json`.",
)


def account_for_ngrams(ledger: Ledger, provenance: Provenance) -> Accounts:
    """Returns the counts, statistics and sections of the dataset card of an n-gram model.

    `provenance` has the facts about the build that were known before it ran, such as its settings.

    The ledger contains the counts of all stages of the build. In addition to the entries of every build, it
    has:
      counted: (split, TextCounts of its text).
      expected: (split, its number of documents in the build of the corpus from which the model is made).
      tallies: (order, Tally).
      entries: (order, number of n-grams in the model).
      scores: (split, its scores, see score_text.py).

    Raises AccountingError if the number of documents read or scored differs from the expected number.
    """
    found = sorted(ledger.pairs("counted").items(), key=lambda one: (one[0] != "train", one[0]))
    counted = {split: counts._asdict() for split, counts in found}
    scores = dict(sorted(ledger.pairs("scores").items()))
    for split, rows in ledger.pairs("expected").items():
        documents = counted.get(split, {}).get("documents", 0)
        ledger.balance(rows, f"documents of {split}", read=documents)
        if split != "train":
            ledger.balance(
                rows, f"documents of {split}", scored=scores.get(split, {}).get("documents", 0)
            )
    entries = ledger.pairs("entries")
    has_discounts = provenance.settings["smoothing"] == "kneser-ney"
    orders = {
        str(order): _describe(tally, entries.get(order, 0), has_discounts=has_discounts)
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
        sections=render("ngrams", settings=provenance.settings, stats=stats),
        findings={"orders": orders, "scores": scores},
        caveats=(
            *_find_caveats(orders, counted["train"]["special_tokens"]),
            *_say_unknown(provenance.settings, scores),
        ),
    )


def _describe(tally: Tally, grams: int, *, has_discounts: bool) -> dict[str, Any]:
    found = {"ngrams": grams, "counted": tally.grams}  # unigrams include <s> and <unk>
    if not has_discounts:
        return found
    discounts = estimate_discounts(tally)
    return {
        **found,
        "counts_of_counts": list(tally.of_count),
        "discounts": list(discounts.of_count[1:]),
        "is_fallback": discounts.is_fallback,
    }


def _find_caveats(orders: Mapping[str, Any], special_tokens: int) -> Iterator[str]:
    """Yields a warning for each reason for which lmplz of KenLM refuses the text."""
    if fallback := [order for order, one in orders.items() if one.get("is_fallback")]:
        yield (
            f"The discounts of the n-grams of {', '.join(fallback)} words cannot be estimated from the text:"
            f" they are {', '.join(map(str, FALLBACK[1:]))}, as of lmplz --discount_fallback. Without this"
            " flag, lmplz refuses the text: it is small, or repeats itself. Take more text, each line once,"
            " or a lower --order."
        )
    if special_tokens:
        yield (
            f"train has {special_tokens:,} words that are spelled `<s>`, `</s>` or `<unk>`. They are `<unk>`"
            " in the model. lmplz refuses such a text."
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
