from collections.abc import Sequence

import pytest

from corpusmill.transforms.news.artefacts import ArtefactError, ArtefactFinder
from tests.tools.error_of import error_of

FILES = [
    "train/news.en-00001-of-00100",
    "heldout/news.en-00000-of-00100",
    "old/heldout/news.en-00000-of-00100",
    "train-00000-of-00099.parquet",
    "tokenized/x.sorted-00000-of-00002",
    "tokenized/x.sorted-00001-of-00002",
    "tokenized/x.sorted.tokenized-00000-of-00001",
    "other/x.sorted-00000-of-00001",
    "README.md",
]


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("train/news.en-00001-of-00100", ["train/news.en-00001-of-00100"]),
        ("./train/news.en-00001-of-00100", ["train/news.en-00001-of-00100"]),
        ("/home/a/train/news.en-00001-of-00100", ["train/news.en-00001-of-00100"]),
        ("elsewhere/news.en-00001-of-00100", ["train/news.en-00001-of-00100"]),
        ("news.en-00001-of-00100", ["train/news.en-00001-of-00100"]),
        ("old/heldout/news.en-00000-of-00100", ["old/heldout/news.en-00000-of-00100"]),
        ("news.en-00002-of-00100", []),
        ("news.en-00001-of-00010", []),
        ("01-of-00100", []),
        ("tokenized/x.sorted", FILES[4:6]),
        ("x.sorted.tokenized", FILES[6:7]),
        ("tokenized/x.sorted-00001-of-00002", FILES[5:6]),
        ("README", []),
        ("", []),
    ],
)
def test_the_file_that_is_meant(name: str, found: Sequence[str]) -> None:
    assert ArtefactFinder(FILES[::-1]).find(name) == tuple(found)


LACKS = "parts of x are missing"
SEVERAL = "there are several sets of parts of x: keep only one of them"


@pytest.mark.parametrize(
    ("files", "name", "message"),
    [
        (["a/x", "b/x"], "x", "the name is ambiguous, it may be any of a/x, b/x"),
        (["a/x", "b/x"], "c/x", "the name is ambiguous, it may be any of a/x, b/x"),
        (
            ["a/x-00000-of-00001", "b/x-00000-of-00001"],
            "x",
            "the name is ambiguous, it may be any of a/x, b/x",
        ),
        (["x-00000-of-00003", "x-00002-of-00003"], "x", f"1 of the 3 {LACKS}, the first is 00001"),
        (["x-00001-of-00001"], "x", f"1 of the 1 {LACKS}, the first is 00000"),
        (["x-00000-of-00001", "x-00001-of-00001"], "x", SEVERAL),
        (["x-00000-of-00001", "x-00000-of-00002", "x-00001-of-00002"], "x", SEVERAL),
    ],
)
def test_what_may_be_meant_in_several_ways(files: Sequence[str], name: str, message: str) -> None:
    assert error_of(ArtefactError, ArtefactFinder(files).find, name) == message


def test_a_whole_file_stands_before_its_parts() -> None:
    assert ArtefactFinder(["x", "x-00000-of-00001"]).find("x") == ("x",)


@pytest.mark.parametrize("name", ["x", "./x", "a/x", "z/a/x", "b/a/x", "b/x"])
def test_files_of_the_folder_itself_stand_before_those_further_below(name: str) -> None:
    files = ["a/x", "x", "b/a/x", "b/x"]
    meant = {"./x": "x", "z/a/x": "a/x"}.get(name, name)
    assert ArtefactFinder(files).find(name) == (meant,)
