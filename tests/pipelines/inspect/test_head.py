"""Tests of the documents that `corpusmill head` prints, on the builds of tests/golden."""

import pathlib

import pytest

from corpusmill.pipelines.inspect.head import show_documents
from corpusmill.transforms.files.read_files import InputError

GOLDEN = pathlib.Path(__file__).parents[2] / "golden"
ENGLISH = str(GOLDEN / "wiki40b" / "en")


def first_lines(folder: str, number: int = 50, **more: object) -> list[str]:
    shown = show_documents(folder, number, width=80, **more)  # type: ignore[arg-type]
    return [document.split("\n")[0] for document in shown]


@pytest.mark.parametrize(
    ("build", "split", "beginning"),
    [
        ("wiki40b/ja", "train", "茶 · Q6097 · train\nversion_id: 104308841\n  茶（ちゃ）は"),
        ("pg19", "", "Zoë and the Café Cat · 90004 · train\nbook_link: http"),
        ("simplebooks", "", "The Hen Who Went to Market · 90002 · train\n  THE HEN"),
        ("lm1b", "", "train\n  "),
        ("flores101", "test", "https://"),
    ],
)
def test_documents_of_each_corpus_begin_with_title_id_and_split(
    build: str, split: str, beginning: str
) -> None:
    shown = list(show_documents(str(GOLDEN / build), 50, split=split, width=80))
    assert any(document.startswith(beginning) for document in shown), shown[:3]
    assert all(len(line) <= 80 for document in shown for line in document.split("\n")[1:])


def test_random_documents_are_the_same_for_a_seed_and_in_the_order_of_the_build() -> None:
    every = first_lines(ENGLISH)
    drawn = [first_lines(ENGLISH, 3, seed=seed) for seed in (1, 1, 2, 3, 4)]
    assert drawn[0] == drawn[1]
    assert len({tuple(one) for one in drawn}) > 1
    assert all(one == [line for line in every if line in one] and len(one) == 3 for one in drawn)
    assert first_lines(ENGLISH, len(every) + 9, seed=5) == every


@pytest.mark.parametrize(
    ("where", "is_it"),
    [
        ("title ~ ^M", lambda title, version: title.startswith("M")),
        ("title !~ o", lambda title, version: "o" not in title),
        ("title = Moon", lambda title, version: title == "Moon"),
        ("title != Moon", lambda title, version: title != "Moon"),
        ("version_id<=1311742180", lambda title, version: version <= "1311742180"),
    ],
)
def test_condition_selects_the_rows_for_which_it_is_true(where: str, is_it: object) -> None:
    rows = [document.split("\n") for document in show_documents(ENGLISH, 50, width=80)]
    titles = [(row[0].split(" · ")[0], row[1].removeprefix("version_id: ")) for row in rows]
    expected = [title for title, version in titles if is_it(title, version)]  # type: ignore[operator]
    assert expected
    assert len(expected) < len(titles)
    assert [line.split(" · ")[0] for line in first_lines(ENGLISH, where=where)] == expected


def test_whole_documents_are_the_text_of_the_build() -> None:
    (whole,) = show_documents(ENGLISH, 1, where="title = Moon", width=0)
    assert "\n_START_ARTICLE_\nMoon\n_START_PARAGRAPH_\nThe Moon is" in whole


def test_condition_that_nothing_fulfils_is_named() -> None:
    assert first_lines(ENGLISH, where="title = x") == ["no document for which title = x"]


@pytest.mark.parametrize(
    ("folder", "more", "message"),
    [
        (ENGLISH, {"split": "dev"}, "no such split: dev; the build has train"),
        (ENGLISH, {"where": "titel = x"}, "title; did you mean title?"),
        (ENGLISH, {"where": "title"}, "is not COLUMN OPERATOR VALUE"),
        (ENGLISH, {"where": "title ~ ("}, "missing ): (; title is string"),
        (str(GOLDEN / "flores101"), {"where": "has_image = maybe"}, "has_image is bool"),
    ],
)
def test_wrong_split_or_condition_is_named(folder: str, more: dict[str, str], message: str) -> None:
    with pytest.raises(ValueError, match=r".") as error:
        first_lines(folder, **more)
    assert message in str(error.value)


@pytest.mark.parametrize("build", ["entities", "ngrams", "tokens"])
def test_build_without_documents_is_an_error(build: str) -> None:
    with pytest.raises(InputError, match="contains no documents"):
        first_lines(str(GOLDEN / build))
