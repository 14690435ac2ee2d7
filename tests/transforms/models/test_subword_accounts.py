from typing import Any

import pytest

from corpusmill.transforms.files.builds.ledger import AccountingError, Accounts, Ledger
from corpusmill.transforms.files.builds.manifest import Provenance
from corpusmill.transforms.files.records import SubwordStats
from corpusmill.transforms.models.count_ngrams import TextCounts
from corpusmill.transforms.models.model_accounts import SubwordAccounts, account_for_ngrams
from corpusmill.transforms.models.subword_models import TrainedSubwords
from tests.tools.error_of import error_of

SIZES = {"vocabularies": {"64k": 64_000, "128k": 128_000}}
PROVENANCE = Provenance(
    "wiki40b-vocabulary", "multilingual-2", "20260101", "1.0.0", {}, SIZES, (), {}
)
TRAINED = [
    ("128k", TrainedSubwords(b"model", 95_688, 20_000, "ab")),
    ("64k", TrainedSubwords(b"model", 64_000, 20_000, "ab")),
]
MISSING = TrainedSubwords(b"", 0, 0, "ab", "there is no text")


def of_build(train: int, validation: int, test: int) -> dict[str, dict[str, int]]:
    characters = {"train": train, "validation": validation, "test": test}
    return {
        split: {"characters": count, "pieces": count // 2} for split, count in characters.items()
    }


BUILDS = {"xx": of_build(0, 0, 0), "uk": of_build(1_000_000, 350, 850)}
UK = [
    (("64k", "uk", "train"), SubwordStats(1, 1_000_000, 0, 0)),  # not in the table
    (("64k", "uk", "validation"), SubwordStats(100, 350, 0, 1)),
    (("64k", "uk", "test"), SubwordStats(300, 850, 0, 2)),
    (("128k", "uk", "train"), SubwordStats(1, 1_000_000, 0, 0)),
    (("128k", "uk", "validation"), SubwordStats(100, 350, 0, 1)),
    (("128k", "uk", "test"), SubwordStats(200, 850, 0, 0)),
]


def account_for(trained: Any = TRAINED, stats: Any = UK) -> Accounts:
    accounts = SubwordAccounts(
        BUILDS, {"uk": 5, "el": 7}, {"uk": (4.029, 2.836, 3.222)}, {"uk": "--lists all"}
    )
    return accounts(Ledger({"trained": trained, "stats": stats}), PROVENANCE)


def test_sound_accounts() -> None:
    accounts = account_for()
    assert accounts.counts == {"sampled": {"el": 7, "uk": 5}}
    assert list(accounts.stats) == list(accounts.findings["sentencepiece"]) == ["64k", "128k"]
    assert list(accounts.stats["64k"]) == ["uk", "xx"]
    assert accounts.stats["64k"]["uk"]["test"] == SubwordStats(300, 850, 0, 2)._asdict()
    card = "\n".join(accounts.sections)
    assert (
        "| vocabulary | pieces | learned from articles |\n"
        "|---|---:|---:|\n"
        "| 64k | 64,000 | 20,000 |\n"
        "| 128k | 95,688 | 20,000 |\n"
        "\n```python\n"
    ) in card
    assert (
        "| language | own | paper 32k | 64k | paper 64k | coverage 64k"
        " | 128k | paper 128k | coverage 128k | what differs from the paper |\n"
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|---|\n"
        "| uk | 2.000 | 4.029 | 3.000 | 2.836 | 99.75 % | 4.000 | 3.222 | 99.92 % | --lists all |\n"
        "| xx | – | – | – | – | – | – | – | – | – |"
    ) in card
    assert 'model_file="sentencepiece/multilingual-64k.model"' in card
    assert "The paper has 99.8 to 99.9 %." in card


def test_a_card_without_languages_of_the_paper_has_none_of_its_figures() -> None:
    accounts = SubwordAccounts(BUILDS, {"uk": 5}, {}, {})
    card = "\n".join(accounts(Ledger({"trained": TRAINED, "stats": UK}), PROVENANCE).sections)
    assert "| uk | 2.000 | – | 3.000 | – | 99.75 % |" in card
    assert "99.9 %" not in card


def test_a_vocabulary_that_is_not_there_has_a_reason() -> None:
    accounts = account_for([("64k", MISSING)], [])
    assert accounts.stats == {}
    card = "\n".join(accounts.sections)
    assert "| 64k | 0 | 0 |\n\n- There is no 64k: there is no text" in card
    assert "language" not in card.partition("- There is no")[2]


def test_all_characters_are_counted() -> None:
    error = error_of(AccountingError, account_for, stats=UK[:-1])
    assert error == "0 counted in 128k do not add up to the 850 characters of test of uk"


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
