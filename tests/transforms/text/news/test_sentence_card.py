from typing import Any

import pytest

from tests.transforms.text.news.test_sentence_accounts import found
from transforms.text.lines.line_stats import LineStats
from transforms.text.news.sentence_accounts import make_counts, make_stats
from transforms.text.news.sentence_card import make_sentence_card
from transforms.text.vocabularies.vocabulary import HeldoutStats, VocabularyStats


def card(caveats: tuple[str, ...] = (), edition: str = "en", **changed: Any) -> str:
    of_build = found(**changed)
    manifest = {
        "corpus": "lm1b",
        "edition": edition,
        "signature": "lm1b|lang:en|v:1.0.0",
        "caveats": caveats,
        "counts": make_counts(of_build),
    }
    return make_sentence_card("Title", "About.", "other", manifest, make_stats(of_build))


@pytest.mark.parametrize("edition", ["en", "en-shards-10"])
def test_the_head_is_that_of_the_hub(edition: str) -> None:
    head = card(edition=edition).split("---\n")[1]
    assert head.splitlines() == [
        "license: other",
        "language: en",
        "configs:",
        f"- config_name: {edition}",
        "  data_files:",
        "  - split: train",
        "    path: train-*.parquet",
        "  - split: test",
        "    path: test-*.parquet",
        "  - split: paper_test",
        "    path: paper_test-*.parquet",
    ]


@pytest.mark.parametrize(
    "line",
    [
        "# Title",
        "About.",
        "Signature: `lm1b|lang:en|v:1.0.0`",
        "Words stand between blanks; bytes and characters count the line feeds. `paper_test` is a part of"
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
        "| >20 | 0 | 0 | 0 | 0 | 0 |",
        "| read | 13 |",
        "| rejected: read-lines/malformed-utf-8 | 2 |",
        "| repeated | 4 |",
        "| near-duplicates | 1 |",
        "| kept | 5 |",
    ],
)
def test_what_a_person_reads(line: str) -> None:
    assert line in card().splitlines()


def test_lines_that_nobody_measured_have_no_row_and_no_column() -> None:
    text = card(read=LineStats())
    assert "| before deduplication" not in text
    assert "| words in a sentence | train | test | paper_test | total |" in text
    assert "| 5 | 1 | 0 | 0 | 1 |" in text


def test_numbers_are_grouped() -> None:
    vocabulary = VocabularyStats(3, 3, 829_250_934, 2_000_000, 793_468, (HeldoutStats(1, 1, 0),))
    text = card(lines_read=112_905_708, vocabulary=vocabulary)
    assert "| read | 112,905,708 |" in text
    assert (
        "793,471 words with `<S>`, `</S>` and `<UNK>`, of 2,000,000 different ones in 829,250,940 running"
        in text
    )


def test_caveats_stand_where_there_are_any() -> None:
    assert card(("One.", "Two.")).splitlines()[-4:-1] == ["- One.", "- Two.", ""]
    assert "could not know" in card(("One.",))
    assert "could not know" not in card()


def test_of_no_words_there_is_no_share() -> None:
    vocabulary = VocabularyStats(3, 0, 0, 0, 0, (HeldoutStats(),))
    assert "| all | 0 | 0 | 0 | – |" in card(vocabulary=vocabulary)
