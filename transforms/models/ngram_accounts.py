"""Computes the counts, statistics and dataset card of a build of an n-gram model."""

from collections.abc import Mapping, Sequence
from typing import Any

from corpusmill.transforms.files.builds.build_manifest import Description, Provenance
from corpusmill.transforms.files.builds.ledger import Accounts, Ledger, balance
from corpusmill.transforms.files.markdown import make_table
from corpusmill.transforms.models.count_grams import Tally
from corpusmill.transforms.models.kneser_ney import FALLBACK, estimate_discounts

DESCRIPTION = Description(
    title="N-gram model",
    closing="The build, with its SHA-256: `manifest.json`.",
)

USE = """\
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
        sections=_make_sections(provenance.settings, stats),
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


def _make_sections(settings: Mapping[str, Any], stats: Mapping[str, Any]) -> Sequence[str]:
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
        *(USE.format(split=split, metric=metric) for split in list(scores)[:1]),
        "",
    ]
