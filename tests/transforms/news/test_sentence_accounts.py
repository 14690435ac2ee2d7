from typing import Any

import pytest

from corpusmill.transforms.files.builds import ledger
from corpusmill.transforms.files.builds.manifest import Provenance
from corpusmill.transforms.files.line_blocks import (
    CLASSES,
    LineStats,
    add_line_stats,
    measure_lines,
)
from corpusmill.transforms.files.records import OutputFile
from corpusmill.transforms.models.word_vocabulary import HeldoutStats, VocabularyStats
from corpusmill.transforms.news.sentence_accounts import account_for_sentences
from tests.tools.case_tables import read_tables
from tests.tools.error_of import error_of

CASES = read_tables("news/sentence_accounts")
TRAIN = measure_lines(b"one two .\none two , three .\n\n")  # 3 sentences of 8 words
PAPER = measure_lines("дві .\n".encode())
DEV = measure_lines(b"four .\n")
TEST = add_line_stats([PAPER, DEV])
VOCABULARY = VocabularyStats(3, 3, 8, 5, 1, (HeldoutStats(1, 2, 1), HeldoutStats(1, 2, 2)))


PROVENANCE = Provenance("lm1b", "en", "2007-2011", "1.0.0", {}, {}, (), {})


def output(name: str, split: str, kind: str, records: int) -> OutputFile:
    return OutputFile(name, split, kind, records, 10, "00ff")


FILES = [output(*one) for one in CASES["files"]]


def account_for(provenance: Provenance = PROVENANCE, **changed: Any) -> ledger.Accounts:
    accounts: dict[str, Any] = {
        "outputs": FILES,
        "lines": 13,
        "rejected": [(("read-lines", "too-long"), 1), (("read-lines", "malformed-utf-8"), 2)],
        "measured": [LineStats(lines=7, words=60), LineStats(lines=3, words=10)],
        "duplicates": 5,
        "unique": 5,
        "splits": [
            ("train", TRAIN),
            ("test", TEST),
            ("paper_test", PAPER),
            ("dev", DEV),
        ],
        "vocabulary": [VOCABULARY],
    }
    return account_for_sentences(ledger.Ledger(accounts | changed), provenance)


def test_accounts_that_agree() -> None:
    account_for(outputs=FILES[::-1])
    account_for(duplicates=0, measured=[], lines=8)


@pytest.mark.parametrize(("changed", "message"), CASES["counts"])
def test_lines_that_do_not_add_up(changed: dict[str, Any], message: str) -> None:
    if "measured" in changed:
        changed["measured"] = [LineStats(lines=lines) for lines in changed["measured"]]
    if "vocabulary" in changed:
        of_vocabulary = changed["vocabulary"]
        if "heldout" in of_vocabulary:
            of_vocabulary["heldout"] = [HeldoutStats(*one) for one in of_vocabulary["heldout"]]
        changed["vocabulary"] = [VOCABULARY._replace(**of_vocabulary)]
    assert error_of(ledger.AccountingError, account_for, **changed) == message


@pytest.mark.parametrize(("missing", "instead", "message"), CASES["wrong_files"])
def test_files_that_do_not_hold_the_sentences(
    missing: str, instead: list[Any], message: str
) -> None:
    files = [file for file in FILES if not file.name.startswith(missing)]
    assert len(files) < len(FILES) or missing == "-"
    files += [output(*instead)] if instead else []
    assert error_of(ledger.AccountingError, account_for, outputs=files) == message


def test_counts_of_the_manifest() -> None:
    assert account_for(replaced=[("test", 2)]).counts == {
        "lines_read": 13,
        "duplicates": 5,
        "kept": {"train": 3, "dev": 1, "test": 2, "paper_test": 1, "total": 5},
        "rejected": {
            "read-lines/malformed-utf-8": 2,
            "read-lines/too-long": 1,
            "total": 3,
        },
        "replaced_characters": {"train": 0, "dev": 0, "test": 2, "paper_test": 0},
    }


def test_stats() -> None:
    stats = account_for().stats
    assert list(stats) == CASES["stats"]
    assert [stats[name] for name in list(stats)[:4]] == [13, 5, 10, 5]
    assert stats["training_words_with_boundaries"] == 8 + 2 * 3
    assert [shard["out_of_vocabulary"] for shard in stats["heldout_shards"]] == [1, 2]
    assert stats["before_deduplication"]["words"] == 70
    assert stats["paper_test"] == {
        "sentences": 1,
        "words": 2,
        "characters": 6,
        "text_bytes": 9,
        "longest_line_bytes": 8,
        "sentences_by_words": {
            **dict.fromkeys(CLASSES, 0),
            "2": 1,
        },
    }
    assert stats["total"] == {
        "sentences": 5,
        "words": 12,
        "characters": 29 + 6 + 7,
        "text_bytes": 29 + 9 + 7,
        "longest_line_bytes": 17,
        "sentences_by_words": stats["train"]["sentences_by_words"] | {"2": 2},
    }


def test_lines_that_nobody_measured_are_not_described() -> None:
    stats = account_for(measured=[]).stats
    assert list(stats) == [name for name in account_for().stats if name != "before_deduplication"]
    assert stats["sentences_before_deduplication"] == 10


def test_caveats() -> None:
    assert account_for().caveats == ()
    replaced = [("train", 1000), ("test", 2), ("paper_test", 2)]
    assert account_for(replaced=replaced, unterminated=["b.gz", "a.gz", "b.gz"]).caveats == (
        "The last line of a.gz, b.gz has no line feed, and is a line of its own here; the scripts would read"
        " one line of it and the first line of the file that follows.",
        "1,002 characters are not valid in Unicode. The text files have their bytes unchanged; Parquet and"
        " TFRecord have U+FFFD in their place.",
    )


def test_an_input_without_sentences() -> None:
    nothing = {name: [] for name in ("splits", "measured", "outputs")}
    nobody = VocabularyStats(3, 0, 0, 0, 0, ())
    counts = {"lines": 3, "duplicates": 0, "unique": 0}
    with pytest.raises(
        ledger.NothingLeftError, match="no sentence is left: of 3 lines 3 were rejected"
    ):
        account_for(**nothing, **counts, vocabulary=[nobody])


def test_an_input_most_of_which_is_no_text() -> None:
    mostly_bad = {"lines": 22, "rejected": [(("read-lines", "malformed-utf-8"), 12)]}
    message = r"most of the 22 lines were rejected \(12 malformed-utf-8\): is the input binary, or in another"
    with pytest.raises(ledger.NothingLeftError, match=message):
        account_for(**mostly_bad)
    keeping = PROVENANCE._replace(settings={"on_corrupt": "keep-good"})
    assert account_for(keeping, **mostly_bad).counts["kept"]["total"] == 5


def test_the_sections_of_the_card() -> None:
    lines = "\n".join(account_for().sections).splitlines()
    for line in CASES["card"]:
        assert line in lines
    text = "\n".join(account_for(measured=[]).sections)
    assert "| before deduplication" not in text
    assert "| words in a sentence | train | test | paper_test | dev | total |" in text
