import pytest

from corpusmill.pipelines.run.corpora import layouts
from corpusmill.transforms.models.sentence_sampling import paragraphs_of_book
from corpusmill.transforms.models.sentences import clean_sentences, sentences_of_texts
from corpusmill.transforms.wikitext.article_markers import render_article
from corpusmill.transforms.wikitext.sections import Section
from tests.tools.case_tables import read_cases

PARAGRAPH = ("Пором відходить о сьомій.", "Він зелений.")
LAST = "Його збудували 1903 р. у Києві."
ARTICLE = render_article(
    "Пором",
    [Section("", (" ".join(PARAGRAPH), "Його видно здалеку.")), Section("Історія", (LAST,))],
)
SHIPS = render_article("船", [Section("", ("船は港を出た。人はいない。",))])
GREEN = "It was green."
BOOK = f"CHAPTER I.\n\nThe ferry left\nat seven. Nobody\nsaw it.\n \t\n\n\n{GREEN}\n"


@pytest.mark.parametrize(
    ("corpus", "language", "text", "expected"),
    [
        ("wiki40b", "uk", ARTICLE, [*PARAGRAPH, "Його видно здалеку.", LAST]),
        ("wiki40b", "ja", SHIPS, ["船は港を出た。", "人はいない。"]),
        ("pg19", "en", BOOK, ["CHAPTER I.", "The ferry left at seven.", "Nobody saw it.", GREEN]),
        ("simplebooks", "en", "One. Two.\nThree.\n", ["One.", "Two.", "Three."]),
        ("lm1b", "en", "One . Two .", ["One . Two ."]),
    ],
)
def test_sentences_of_each_corpus(
    corpus: str, language: str, text: str, expected: list[str]
) -> None:
    assert list(sentences_of_texts([text], layouts()[corpus], language)) == expected


def test_several_texts_one_after_the_other() -> None:
    assert list(sentences_of_texts(["b", "", "a"], layouts()["lm1b"], "en")) == ["b", "a"]


@pytest.mark.parametrize(
    ("sentence", "expected"), read_cases("models/document_sentences", "cleaning")
)
def test_cleaning(sentence: str, expected: list[str]) -> None:
    assert list(clean_sentences([sentence])) == expected
    assert list(clean_sentences(expected)) == expected


def test_paragraphs_of_a_book_with_other_line_ends() -> None:
    assert paragraphs_of_book("a\r\n\r\nb\nc\n\n\nd") == ["a\r", "b\nc", "d"]
