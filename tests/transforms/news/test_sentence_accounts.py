from typing import Any

import pytest

from corpusmill.transforms.files.builds.ledger import (
    AccountingError,
    Accounts,
    Ledger,
    NothingLeftError,
)
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

HELDOUT = "heldout-monolingual.tokenized.shuffled"
TRAINING = "training-monolingual.tokenized.shuffled"

TRAIN = measure_lines(b"one two .\none two , three .\n\n")  # 3 sentences of 8 words
PAPER = measure_lines("дві .\n".encode())
TEST = add_line_stats([PAPER, measure_lines(b"four .\n")])
VOCABULARY = VocabularyStats(3, 3, 8, 5, 1, (HeldoutStats(1, 2, 1), HeldoutStats(1, 2, 2)))


PROVENANCE = Provenance("lm1b", "en", "2007-2011", "1.0.0", {}, {}, (), {})


def output(name: str, split: str, kind: str, records: int) -> OutputFile:
    return OutputFile(name, split, kind, records, 10, "00ff")


FILES = [
    output(f"{TRAINING}/news.en-00001-of-00003", "train", "text", 2),
    output(f"{TRAINING}/news.en-00002-of-00003", "train", "text", 1),
    output(f"{HELDOUT}/news.en-00000-of-00003", "", "text", 2),
    output(f"{HELDOUT}/news.en.heldout-00000-of-00002", "test", "text", 1),
    output(f"{HELDOUT}/news.en.heldout-00001-of-00002", "test", "text", 1),
    output("train-00000-of-00002.parquet", "train", "parquet", 2),
    output("train-00001-of-00002.parquet", "train", "parquet", 1),
    output("test-00000-of-00002.parquet", "test", "parquet", 1),
    output("test-00001-of-00002.parquet", "test", "parquet", 1),
    output("paper_test-00000-of-00001.parquet", "paper_test", "parquet", 1),
    output("lm1b-train.tfrecord-00000-of-00002", "train", "tfrecord", 2),
    output("lm1b-train.tfrecord-00001-of-00002", "train", "tfrecord", 1),
    output("lm1b-test.tfrecord-00000-of-00002", "test", "tfrecord", 1),
    output("lm1b-test.tfrecord-00001-of-00002", "test", "tfrecord", 1),
    output("lm1b-paper_test.tfrecord-00000-of-00001", "paper_test", "tfrecord", 1),
    output("md5sums", "", "checksums", 0),
    output("vocabulary.tsv", "", "text", 4),
    output("training-monolingual.tokenized/news.sorted-00000-of-00001", "", "text", 6),
    output("rejected/rejected-00000-of-00001.parquet", "", "parquet", 3),
    output("rejected/near-duplicates-00000-of-00001.parquet", "", "parquet", 1),
]


def account_for(provenance: Provenance = PROVENANCE, **changed: Any) -> Accounts:
    accounts: dict[str, Any] = {
        "outputs": FILES,
        "lines": 13,
        "rejected": [(("read-lines", "too-long"), 1), (("read-lines", "malformed-utf-8"), 2)],
        "measured": [LineStats(lines=7, words=60), LineStats(lines=3, words=10)],
        "duplicates": 4,
        "unique": 6,
        "near_duplicates": 1,
        "splits": [("train", TRAIN), ("test", TEST), ("paper_test", PAPER)],
        "vocabulary": [VOCABULARY],
    }
    return account_for_sentences(Ledger(accounts | changed), provenance)


def without(name: str) -> list[OutputFile]:
    left = [file for file in FILES if file.name != name]
    assert len(left) == len(FILES) - 1
    return left


def with_records(name: str, records: int) -> list[OutputFile]:
    file = next(file for file in FILES if file.name == name)
    return [*without(name), file._replace(records=records)]


def test_accounts_that_agree() -> None:
    account_for(outputs=FILES[::-1])
    account_for(duplicates=0, measured=[], lines=9)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (
            {"lines": 14},
            "6 different + 4 repeated do not add up to the 11 lines that were read and not rejected",
        ),
        (
            {"rejected": [(("read-lines", "too-long"), 2)]},
            "6 different + 4 repeated do not add up to the 11 lines that were read and not rejected",
        ),
        (
            {"duplicates": 3},
            "6 different + 3 repeated do not add up to the 10 lines that were read and not rejected",
        ),
        (
            {"unique": 7, "measured": []},
            "7 different + 4 repeated do not add up to the 10 lines that were read and not rejected",
        ),
        ({"measured": [LineStats(lines=9)]}, "9 measured do not add up to the 10 lines to sort"),
        (
            {"near_duplicates": 0},
            "5 sentences + 0 near duplicates do not add up to the 6 different lines",
        ),
        (
            {"vocabulary": [VOCABULARY._replace(training_sentences=2)]},
            "2 counted do not add up to the 3 sentences of train",
        ),
        (
            {"vocabulary": [VOCABULARY._replace(training_words=9)]},
            "9 counted do not add up to the 8 words of train",
        ),
        (
            {"vocabulary": [VOCABULARY._replace(heldout=VOCABULARY.heldout[:1])]},
            "1 looked up do not add up to the 2 sentences of test",
        ),
    ],
)
def test_lines_that_do_not_add_up(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(AccountingError) as raised:
        account_for(**changed)
    assert str(raised.value) == message


@pytest.mark.parametrize(
    ("files", "message"),
    [
        (
            without(f"{TRAINING}/news.en-00001-of-00003"),
            "1 in text files do not add up to the 3 sentences of train",
        ),
        (
            without("train-00000-of-00002.parquet"),
            "1 in parquet files do not add up to the 3 sentences of train",
        ),
        (
            without("lm1b-test.tfrecord-00001-of-00002"),
            "1 in tfrecord files do not add up to the 2 sentences of test",
        ),
        (
            without("paper_test-00000-of-00001.parquet"),
            "0 in parquet files do not add up to the 1 sentences of paper_test",
        ),
        (
            with_records("lm1b-paper_test.tfrecord-00000-of-00001", 2),
            "2 in tfrecord files do not add up to the 1 sentences of paper_test",
        ),
        (
            with_records(f"{HELDOUT}/news.en.heldout-00001-of-00002", 2),
            "3 in text files do not add up to the 2 sentences of test",
        ),
        (
            with_records(f"{HELDOUT}/news.en-00000-of-00003", 3),
            "3 in the heldout shard do not add up to the 2 sentences of its parts",
        ),
        (
            without(f"{HELDOUT}/news.en-00000-of-00003"),
            "0 in the heldout shard do not add up to the 2 sentences of its parts",
        ),
        (
            with_records("rejected/near-duplicates-00000-of-00001.parquet", 2),
            "2 listed do not add up to the 1 near-duplicates left out",
        ),
        (
            [*FILES, output("rejected/near-duplicates-00001-of-00002.parquet", "", "parquet", 0)],
            "2 written do not add up to the 1 files of near-duplicates (the number in their names)",
        ),
        (
            [*FILES, output("train-00002-of-00003.parquet", "train", "parquet", 0)],
            "3 written do not add up to the 2 parquet files of train (the number in their names)",
        ),
        (
            [
                *(file for file in FILES if not file.name.startswith("lm1b-test")),
                output("lm1b-test.tfrecord-00001-of-00002", "test", "tfrecord", 2),
            ],
            "1 written do not add up to the 2 tfrecord files of test (the number in their names)",
        ),
    ],
)
def test_files_that_do_not_hold_the_sentences(files: list[OutputFile], message: str) -> None:
    with pytest.raises(AccountingError) as raised:
        account_for(outputs=files)
    assert str(raised.value) == message


def test_counts_of_the_manifest() -> None:
    assert account_for(replaced=[("test", 2)]).counts == {
        "lines_read": 13,
        "duplicates": 4,
        "near_duplicates": 1,
        "kept": {"train": 3, "test": 2, "paper_test": 1, "total": 5},
        "rejected": {
            "read-lines/malformed-utf-8": 2,
            "read-lines/too-long": 1,
            "total": 3,
        },
        "replaced_characters": {"train": 0, "test": 2, "paper_test": 0},
    }


def test_stats() -> None:
    stats = account_for().stats
    assert list(stats) == [
        "input_lines",
        "unique_lines",
        "sentences_before_deduplication",
        "sentences_after_deduplication",
        "training_sentences",
        "training_words",
        "training_words_with_boundaries",
        "training_distinct_words",
        "words_with_count_at_least_3",
        "vocabulary_with_S_slashS_UNK",
        "heldout_shard_0",
        "heldout",
        "all_heldout",
        "heldout_shards",
        "before_deduplication",
        "train",
        "test",
        "paper_test",
        "total",
    ]
    assert [stats[name] for name in list(stats)[:4]] == [13, 6, 10, 5]
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
    counts = {"lines": 3, "duplicates": 0, "unique": 0, "near_duplicates": 0}
    with pytest.raises(NothingLeftError, match="no sentence is left: of 3 lines 3 were rejected"):
        account_for(**nothing, **counts, vocabulary=[nobody])


def test_an_input_most_of_which_is_no_text() -> None:
    mostly_bad = {"lines": 22, "rejected": [(("read-lines", "malformed-utf-8"), 12)]}
    message = r"most of the 22 lines were rejected \(12 malformed-utf-8\): is the input binary, or in another"
    with pytest.raises(NothingLeftError, match=message):
        account_for(**mostly_bad)
    keeping = PROVENANCE._replace(settings={"on_corrupt": "keep-good"})
    assert account_for(keeping, **mostly_bad).counts["kept"]["total"] == 5


def test_the_sections_of_the_card() -> None:
    lines = "\n".join(account_for().sections).splitlines()
    for line in (
        "Words are separated by spaces; bytes and characters include line feeds. `paper_test` is a part of"
        " `test`. Before deduplication, there were 10 lines.",
        "| split | sentences | words | characters | text bytes | longest line bytes |",
        "| before deduplication | 10 | 70 | 0 | 0 | 0 |",
        "| train | 3 | 8 | 29 | 29 | 17 |",
        "| paper_test | 1 | 2 | 6 | 9 | 8 |",
        "| total | 5 | 12 | 42 | 45 | 17 |",
        "| `test-*.parquet`, `lm1b-test.tfrecord-*` | all shards that the held-out shard is split into |",
        "| held-out shard 0 | 1 | 3 | 1 | 33.33 % |",
        "| held-out shard 1 | 1 | 3 | 2 | 66.67 % |",
        "| all | 2 | 6 | 3 | 50.00 % |",
        "| words in a sentence | before deduplication | train | test | paper_test | total |",
        "| 0 | 0 | 1 | 0 | 0 | 1 |",
        "| 5 | 0 | 1 | 0 | 0 | 1 |",
        "| >100 | 0 | 0 | 0 | 0 | 0 |",
        "| read | 13 |",
        "| rejected: read-lines/malformed-utf-8 | 2 |",
        "| repeated | 4 |",
        "| near-duplicates | 1 |",
        "| kept | 5 |",
    ):
        assert line in lines
    text = "\n".join(account_for(measured=[]).sections)
    assert "| before deduplication" not in text
    assert "| words in a sentence | train | test | paper_test | total |" in text
