import pytest

from corpusmill.transforms.news.artefacts import (
    HELDOUT,
    TRAIN,
    Kind,
    kind_of,
    parquet_twin,
    part_of,
    shard_of,
    text_name,
)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("tar_archives/training-monolingual.tgz", Kind.ARCHIVE),
        ("1-billion-word-language-modeling-benchmark-r13output.tar.gz", Kind.ARCHIVE),
        ("training-monolingual/news.2007.en.shuffled", Kind.RAW),
        ("news.2011.de.shuffled.gz", Kind.RAW),
        ("training-monolingual.tokenized/news.20XX.en.shuffled.sorted", Kind.SORTED),
        ("/tmp/news.20XX.en.shuffled.sorted.tokenized", Kind.TOKENIZED),
        ("training-monolingual.tokenized.shuffled/news.en-00001-of-00100", Kind.TRAIN),
        ("news.de-00099-of-00100", Kind.TRAIN),
        ("heldout-monolingual.tokenized.shuffled/news.en-00000-of-00100", Kind.HELDOUT),
        ("heldout-monolingual.tokenized.shuffled/news.en.heldout-00000-of-00050", Kind.HELDOUT),
        ("news.en.heldout-00049-of-00050", Kind.HELDOUT),
        ("train-00001-of-00099.parquet", Kind.OTHER),
        ("news.en-00001-of-00100.gz", Kind.OTHER),
        ("news.20XX.en.shuffled.sorted-00001-of-00016", Kind.OTHER),
        ("README", Kind.OTHER),
        ("", Kind.OTHER),
    ],
)
def test_kinds(name: str, kind: Kind) -> None:
    assert kind_of(name) == kind


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("news.en-00003-of-00100", ("news.en", 3, 100)),
        ("a/b.sorted-00000-of-00001", ("a/b.sorted", 0, 1)),
        ("a-00001-of-00002-00003-of-00004", ("a-00001-of-00002", 3, 4)),
        ("news.en", None),
        ("news.en-3-of-100", None),
        ("-00003-of-00100", None),
    ],
)
def test_parts(name: str, part: tuple[str, int, int] | None) -> None:
    assert part_of(name) == part


@pytest.mark.parametrize("series", [TRAIN, HELDOUT])
@pytest.mark.parametrize("number", [0, 7])
def test_names_that_builds_give(series: str, number: int) -> None:
    name = text_name(series, number, 100, "en")
    assert shard_of(name) == (series, number, 100)
    assert kind_of(name) == (Kind.TRAIN if (series, number) == (TRAIN, 7) else Kind.HELDOUT)


@pytest.mark.parametrize(
    ("name", "twin"),
    [
        ("x/news.en-00001-of-00100", "train-00000-of-00099.parquet"),
        ("news.en-00099-of-00100", "train-00098-of-00099.parquet"),
        ("x/news.en.heldout-00000-of-00050", "test-00000-of-00050.parquet"),
        ("x/news.en.heldout-00049-of-00050", "test-00049-of-00050.parquet"),
        ("x/news.en-00000-of-00100", ""),  # it is there in its parts
        ("news.20XX.en.shuffled.sorted-00001-of-00016", ""),
        ("README", ""),
    ],
)
def test_parquet_files_with_the_same_lines(name: str, twin: str) -> None:
    assert parquet_twin(name) == twin
