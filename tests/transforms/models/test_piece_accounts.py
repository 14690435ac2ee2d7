from typing import Any

import pytest

from corpusmill.transforms.files.builds.ledger import AccountingError, Accounts, Ledger
from corpusmill.transforms.files.builds.manifest import Provenance
from corpusmill.transforms.files.records import SubwordStats
from corpusmill.transforms.models.count_ngrams import TextCounts
from corpusmill.transforms.models.model_accounts import (
    EVALUATED,
    HELD_OUT_KIND,
    account_for_ngrams,
    account_for_pieces,
)
from corpusmill.transforms.models.sentence_sampling import Choice, Share
from corpusmill.transforms.models.subword_models import PieceStats, TrainedPieces
from tests.tools.error_of import error_of

TRAINED = TrainedPieces(b"", pieces=400, words=70, occurrences=900, rare_words=5)
CHOICES = {
    "uk": Choice(Share(1000, 0.75, 300), 17, 1, 1 << 64),
    "sw": Choice(Share(40, 0.25, 100), 17, 1, 1 << 64),
}
STATS = [
    ((HELD_OUT_KIND, "uk"), PieceStats(10, 300, 100, 1)),
    ((EVALUATED, "sw"), PieceStats(20, 500, 200, 0)),
    ((EVALUATED, "ar"), PieceStats(20, 500, 200, 150)),
]
SETTINGS = {
    "temperature": "5",
    "normalization": "nmt_nfkc",
    "character_coverage": 0.9995,
    "byte_fallback": False,
}
PROVENANCE = Provenance("subwords", "multilingual-2-400", "20260101", "1.0.0", {}, SETTINGS, (), {})


def account_for(**changed: Any) -> Accounts:
    accounts = {
        "trained": [TRAINED],
        "choices": [CHOICES],
        "sampled": [("uk", 300), ("sw", 100)],
        "stats": STATS,
        "rejected": [(("read-sentences", "too-long"), 2)],
    } | changed
    return account_for_pieces(Ledger(accounts), PROVENANCE)


def test_sound_accounts() -> None:
    accounts = account_for()
    assert accounts.counts == {
        "sentences": 1040,
        "sampled": 400,
        "rejected_lines": {"read-sentences/too-long": 2},
    }
    stats = accounts.stats
    assert stats["total"] == {
        "languages": 2,
        "sentences": 1040,
        "sampled": 400,
        "different_words": 70,
        "words": 900,
        "rare_words_passed_over": 5,
        "pieces": 400,
    }
    assert list(stats["languages"]) == ["ar", "sw", "uk"]
    assert stats["languages"]["sw"] == {
        "sentences": 40,
        "probability": 0.25,
        "sampled": 100,
        "times": 2,
        "once_more": 20,
        "evaluated": {"lines": 20, "characters": 500, "pieces": 200, "unknown": 0, "in_bytes": 0},
    }
    assert stats["languages"]["ar"]["sentences"] == 0


def test_the_card() -> None:
    card = "\n".join(account_for().sections)
    table = [line for line in card.split("\n") if line.startswith("|")]
    assert table[-3:] == [
        "| ar | – | – | – | – | – | – | – | 20 | 2.500 | 75.00 % |",
        "| sw | 40 | 25.00 % | 100 | 2.5 | – | – | – | 20 | 2.500 | 0.00 % |",
        "| uk | 1,000 | 75.00 % | 300 | 0.3 | 10 | 3.000 | 1.00 % | – | – | – |",
    ]
    assert "400 pieces, learned from 400 sentences of 2 languages" in card
    assert "nmt_nfkc; character coverage 0.9995; no byte fallback." in card


def test_the_card_of_articles_has_the_figures_of_the_paper() -> None:
    stats = [
        ((HELD_OUT_KIND, "uk"), SubwordStats(400, 1200, 0, 3)),
        ((EVALUATED, "sw"), SubwordStats(200, 500, 0, 0)),
    ]
    ledger = {"trained": [TRAINED], "choices": [CHOICES], "sampled": [("uk", 300), ("sw", 100)]}
    provenance = PROVENANCE._replace(settings={"articles": 50})
    accounts = account_for_pieces(
        Ledger(ledger | {"stats": stats, "rejected": []}),
        provenance,
        {"uk": ("2.836", "--lists all")},
    )
    assert accounts.counts == {"articles": 1040, "sampled": 400, "rejected_lines": {}}
    assert accounts.stats["languages"]["uk"]["articles"] == 1000
    assert [line for line in "\n".join(accounts.sections).split("\n") if line[:1] == "|"][-2:] == [
        "| sw | 100 | – | – | – | – | 2.500 | – |",
        "| uk | 300 | 1,200 | 3.000 | 2.836 | 99.75 % | – | --lists all |",
    ]
    (caveat,) = accounts.caveats
    assert caveat.endswith("articles of train, which weigh less than the others: sw 40.")


@pytest.mark.parametrize("sampled", [[], [("uk", 300), ("sw", 99)], [("uk", 301), ("sw", 100)]])
def test_as_many_are_sampled_as_were_to_be(sampled: list[tuple[str, int]]) -> None:
    with pytest.raises(
        AccountingError, match=r"sampled do not add up to the \d+ sentences of (uk|sw)"
    ):
        account_for(sampled=sampled)


@pytest.mark.parametrize(
    ("counted", "scored", "message"),
    [
        (TextCounts(3), {"documents": 2}, "2 scored do not add up to the 3 documents of test"),
        (TextCounts(2), {"documents": 3}, "2 read do not add up to the 3 documents of test"),
    ],
)
def test_all_documents_of_an_ngram_model_are_read_and_scored(
    counted: TextCounts, scored: dict[str, int], message: str
) -> None:
    entries = {
        "expected": [("test", 3)],
        "counted": [("test", counted)],
        "scores": [("test", scored)],
    }
    error = error_of(AccountingError, account_for_ngrams, Ledger(entries), PROVENANCE)
    assert error == message
