from typing import Any

import pytest

from transforms.records import OutputFile
from transforms.text.builds.build_manifest import AccountingError
from transforms.text.lines.line_stats import LineStats, add_line_stats, measure_lines
from transforms.text.news.sentence_accounts import (
    Found,
    check_accounts,
    make_caveats,
    make_counts,
    make_stats,
)
from transforms.text.vocabularies.vocabulary import HeldoutStats, VocabularyStats

HELDOUT = "heldout-monolingual.tokenized.shuffled"
TRAINING = "training-monolingual.tokenized.shuffled"

TRAIN = measure_lines(b"one two .\none two , three .\n\n")  # 3 sentences of 8 words
PAPER = measure_lines("дві .\n".encode())
TEST = add_line_stats([PAPER, measure_lines(b"four .\n")])
VOCABULARY = VocabularyStats(3, 3, 8, 5, 1, (HeldoutStats(1, 2, 1), HeldoutStats(1, 2, 2)))


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


def found(**changed: Any) -> Found:
    of_build = Found(
        lines_read=13,
        rejections={("read-lines", "too-long"): 1, ("read-lines", "malformed-utf-8"): 2},
        read=LineStats(lines=10, words=70),
        duplicates=4,
        unique=6,
        near_duplicates=1,
        splits={"train": TRAIN, "test": TEST, "paper_test": PAPER},
        replaced={},
        vocabulary=VOCABULARY,
    )
    return of_build._replace(**changed)


def without(name: str) -> list[OutputFile]:
    left = [file for file in FILES if file.name != name]
    assert len(left) == len(FILES) - 1
    return left


def with_records(name: str, records: int) -> list[OutputFile]:
    file = next(file for file in FILES if file.name == name)
    return [*without(name), file._replace(records=records)]


def test_accounts_that_agree() -> None:
    check_accounts(found(), FILES)
    check_accounts(found(), FILES[::-1])
    check_accounts(found(read=LineStats()), FILES)
    check_accounts(found(duplicates=0, read=LineStats(lines=6), lines_read=9), FILES)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (
            {"lines_read": 14},
            "10 different or repeated lines are not the 11 lines that were read and not rejected",
        ),
        (
            {"rejections": {("read-lines", "too-long"): 2}},
            "10 different or repeated lines are not the 11 lines that were read and not rejected",
        ),
        (
            {"duplicates": 3},
            "9 different or repeated lines are not the 10 lines that were read and not rejected",
        ),
        (
            {"unique": 7, "read": LineStats()},
            "11 different or repeated lines are not the 10 lines that were read and not rejected",
        ),
        ({"read": LineStats(lines=9)}, "9 lines measured are not the 10 lines to sort"),
        (
            {"near_duplicates": 0},
            "5 sentences, kept or near-duplicates, are not the 6 different lines",
        ),
        (
            {"vocabulary": VOCABULARY._replace(training_sentences=2)},
            "2 sentences counted are not the 3 sentences of train",
        ),
        (
            {"vocabulary": VOCABULARY._replace(training_words=9)},
            "9 words counted are not the 8 words of train",
        ),
        (
            {"vocabulary": VOCABULARY._replace(heldout=VOCABULARY.heldout[:1])},
            "1 sentences looked up are not the 2 sentences of test",
        ),
    ],
)
def test_lines_that_do_not_add_up(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(AccountingError) as raised:
        check_accounts(found(**changed), FILES)
    assert str(raised.value) == message


@pytest.mark.parametrize(
    ("files", "message"),
    [
        (
            without(f"{TRAINING}/news.en-00001-of-00003"),
            "1 sentences in text of train are not the 3 sentences",
        ),
        (
            without("train-00000-of-00002.parquet"),
            "1 sentences in parquet of train are not the 3 sentences",
        ),
        (
            without("lm1b-test.tfrecord-00001-of-00002"),
            "1 sentences in tfrecord of test are not the 2 sentences",
        ),
        (
            without("paper_test-00000-of-00001.parquet"),
            "0 sentences in parquet of paper_test are not the 1 sentences",
        ),
        (
            with_records("lm1b-paper_test.tfrecord-00000-of-00001", 2),
            "2 sentences in tfrecord of paper_test are not the 1 sentences",
        ),
        (
            with_records(f"{HELDOUT}/news.en.heldout-00001-of-00002", 2),
            "3 sentences in text of test are not the 2 sentences",
        ),
        (
            with_records(f"{HELDOUT}/news.en-00000-of-00003", 3),
            "3 sentences in the held-out shard are not the 2 sentences of its parts",
        ),
        (
            without(f"{HELDOUT}/news.en-00000-of-00003"),
            "0 sentences in the held-out shard are not the 2 sentences of its parts",
        ),
        (
            with_records("rejected/near-duplicates-00000-of-00001.parquet", 2),
            "2 near-duplicates listed are not the 1 left out",
        ),
        (
            [*FILES, output("rejected/near-duplicates-00001-of-00002.parquet", "", "parquet", 0)],
            "2 files of near-duplicates are not the 1 files in their names",
        ),
        (
            [*FILES, output("train-00002-of-00003.parquet", "train", "parquet", 0)],
            "3 files of parquet of train are not the 2 files in their names",
        ),
        (
            [
                *(file for file in FILES if not file.name.startswith("lm1b-test")),
                output("lm1b-test.tfrecord-00001-of-00002", "test", "tfrecord", 2),
            ],
            "1 files of tfrecord of test are not the 2 files in their names",
        ),
    ],
)
def test_files_that_do_not_hold_the_sentences(files: list[OutputFile], message: str) -> None:
    with pytest.raises(AccountingError) as raised:
        check_accounts(found(), files)
    assert str(raised.value) == message


def test_counts_of_the_manifest() -> None:
    assert make_counts(found(replaced={"test": 2})) == {
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
    stats = make_stats(found())
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
            **dict.fromkeys(map(str, range(21)), 0),
            ">20": 0,
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
    stats = make_stats(found(read=LineStats()))
    assert list(stats) == [name for name in make_stats(found()) if name != "before_deduplication"]
    assert stats["sentences_before_deduplication"] == 10


def test_caveats() -> None:
    assert list(make_caveats(found(), [])) == []
    replaced = {"train": 1000, "test": 2, "paper_test": 2}
    assert list(make_caveats(found(replaced=replaced), ["b.gz", "a.gz", "b.gz"])) == [
        "The last line of a.gz, b.gz has no line feed, and is a line of its own here; the scripts would read"
        " one line of it and the first line of the file that follows.",
        "1,002 characters are none of Unicode; text files have them as they were read, Parquet and TFRecord"
        " have U+FFFD in their place.",
    ]
