from typing import Any

import pytest

from corpusmill.transforms.files.builds import ledger
from corpusmill.transforms.files.builds.manifest import Provenance
from corpusmill.transforms.files.records import CorpusStats, InputFile, OutputFile, SubwordStats
from corpusmill.transforms.models.subword_models import TrainedSubwords
from corpusmill.transforms.wikipedia.article_accounts import account_for_articles
from tests.tools.error_of import error_of

PROVENANCE = Provenance("wiki40b", "zh-tw", "20260101", "1.0.0", {}, {}, (), {})
STATS = {
    "train": CorpusStats(3, 4, 5, 60, 700, 800),
    "test": CorpusStats(1, 0, 1, 10, 100, 110),
}
TRAINED = TrainedSubwords(b"model", 32000, 1234, "ab")
UNTRAINED = TrainedSubwords(b"", 0, 0, "ab", "there is no text")
IN_PIECES = {"train": SubwordStats(200, 700, 0, 5), "test": SubwordStats(40, 100, 1, 0)}
REJECTED = [
    (("screen-pages", "redirect"), 4),
    (("clean-wikitext", "too-deep"), 1),
    (("read-dump", "malformed-xml"), 1),
]


def output(split: str, kind: str, records: int) -> OutputFile:
    return OutputFile(f"{split}.{kind}", split, kind, records, 10, "00ff")


FILES = [
    output(split, kind, records)
    for kind in ("parquet", "tfrecord")
    for split, records in (("train", 3), ("validation", 0), ("test", 1))
]


def account_for(**changed: Any) -> ledger.Accounts:
    accounts = {
        "outputs": FILES,
        "pages": 9,  # the malformed page was read, too
        "rejected": REJECTED,
        "class_unknown": 2,
        "pinned": [(True, 1), (False, 2)],
        "stats": list(STATS.items()),
        "lengths": [(("train", 14), 3), (("test", 13), 1)],
        "subwords": [TRAINED],
        "subword_stats": list(IN_PIECES.items()),
    } | changed
    return account_for_articles(ledger.Ledger(accounts), PROVENANCE)


def test_sound_accounts() -> None:
    accounts = account_for()
    assert accounts.counts == {
        "pages_read": 10,
        "kept": {"train": 3, "validation": 0, "test": 1, "total": 4},
        "rejected": {
            "clean-wikitext/too-deep": 1,
            "read-dump/malformed-xml": 1,
            "screen-pages/redirect": 4,
            "total": 6,
        },
        "class_unknown": 2,
        "pinned": 3,
        "pinned_elsewhere": 1,
    }
    stats = accounts.stats
    assert list(stats) == ["train", "validation", "test", "total"]
    lengths = {"articles_by_characters": {"96-127": 0, "128-191": 0}}
    assert stats["validation"] == CorpusStats()._asdict() | SubwordStats()._asdict() | lengths
    total = CorpusStats(4, 4, 6, 70, 800, 910)._asdict() | SubwordStats(240, 800, 1, 5)._asdict()
    lengths = {"articles_by_characters": {"96-127": 1, "128-191": 3}}
    assert stats["total"] == total | lengths
    assert accounts.findings == {"stats": stats, "sentencepiece": TRAINED.summary()}


@pytest.mark.parametrize(
    ("edition", "settings", "differs"),
    [
        ("uk", {"lists": "none"}, ""),
        ("uk", {"lists": "sentences"}, ", --lists sentences, --leave-out"),
        ("hy", {"lists": "none"}, None),
    ],
)
def test_the_card_has_the_figures_of_the_paper_that_stand_beside_the_build(
    monkeypatch: pytest.MonkeyPatch, edition: str, settings: dict[str, str], differs: str | None
) -> None:
    facts = {"edition": edition, "settings": settings}
    monkeypatch.setitem(globals(), "PROVENANCE", PROVENANCE._replace(**facts))
    read = [InputFile(role, "a", 1, "00ff") for role in ("entities", "leave-out")]
    card = "\n".join(account_for(inputs=read if differs else []).sections)
    row = f"| articles | 562,612 | input of 20260101{differs} |"
    assert (row in card) == (differs is not None)
    row = "| pieces (32k), characters of test | 11,514,315, 46,442,543 |"
    assert (row in card) == (differs is not None)
    assert ("No figures of the paper: not the paper's settings: --language hy." in card) == (
        differs is None
    )
    assert ("left out: not the paper's settings: --lists sentences" in card) == bool(differs)
    numbers = (
        "left out: not the published numbers of documents: train 3 of 477,618, validation 0 of"
    )
    assert (numbers in card) == (differs == "")


def test_the_sections_of_the_card() -> None:
    lines = account_for().sections
    assert lines[0].startswith("| split | articles | sections | paragraphs | words | characters |")
    assert lines[2].startswith("| train | 3 | 4 | 5 | 60 | 700 | 800 | 0 | 200 |")
    assert (
        "`sentencepiece/`: 32,000 pieces, learned from the first 1,234 articles of train."
        " Characters per piece: train 3.500, test 2.500, total 3.333."
    ) in lines
    at = lines.index("| reason | pages |")
    assert lines[at : at + 6] == [
        "| reason | pages |",
        "|---|---:|",
        "| clean-wikitext/too-deep | 1 |",
        "| read-dump/malformed-xml | 1 |",
        "| screen-pages/redirect | 4 |",
        "| total | 6 |",
    ]
    assert "Not kept, of 10 pages read (each is listed in `rejected/`):" in lines


@pytest.mark.parametrize("subwords", [[], [UNTRAINED]])
def test_a_build_without_a_vocabulary(subwords: list[TrainedSubwords]) -> None:
    accounts = account_for(subwords=subwords, subword_stats=[])
    lengths = {"articles_by_characters": {"96-127": 0, "128-191": 3}}
    assert accounts.stats["train"] == STATS["train"]._asdict() | lengths
    assert "sentencepiece" not in "\n".join(accounts.sections)
    reasons = [accounts.findings["sentencepiece"]["reason"]] if subwords else []
    assert reasons == [one.reason for one in subwords]
    assert ("sentencepiece" in accounts.findings) == bool(subwords)


def test_a_dump_without_a_page() -> None:
    with pytest.raises(ledger.NothingLeftError, match="the dump has no page") as raised:
        account_for_articles(ledger.Ledger({}), PROVENANCE)
    assert raised.value.roles == ["dump"]
    counts = account_for_articles(
        ledger.Ledger({"rejected": [(("a", "b"), 1)], "pages": 1}), PROVENANCE
    )
    assert counts.counts["kept"]["total"] == 0


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"pages": 10}, "4 kept + 6 rejected do not add up to the 11 pages that were read"),
        (
            {"rejected": REJECTED[:1]},
            "4 kept + 4 rejected do not add up to the 9 pages that were read",
        ),
        ({"lengths": []}, "0 with a length do not add up to the 3 documents of train"),
        ({"outputs": []}, "0 in parquet files do not add up to the 3 articles of train"),
        ({"outputs": FILES[:3]}, "0 in tfrecord files do not add up to the 3 articles of train"),
        (
            {"outputs": [*FILES, output("validation", "parquet", 1)]},
            "1 in parquet files do not add up to the 0 articles of validation",
        ),
        (
            {"subword_stats": [("train", SubwordStats(200, 99))]},
            "99 characters counted in pieces do not add up to the 700 characters of train",
        ),
    ],
)
def test_accounts_that_do_not_agree(changed: dict[str, Any], message: str) -> None:
    assert error_of(ledger.AccountingError, account_for, **changed) == message
