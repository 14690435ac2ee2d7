import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.transforms.wikipedia.sites import load_site
from corpusmill.transforms.wikitext import clean
from corpusmill.transforms.wikitext.link_marks import (
    SIGN,
    LinkedPage,
    clean_with_links,
    find_marks,
    mark_links,
)
from tests.tools.case_tables import read_cases
from tests.tools.real_data import DATA, needs_real_data
from tests.transforms.wikitext.test_real_pages import read_articles

CLEANER = load_site("wikinews").cleaner({6: ["File"], 10: ["Template"], 14: ["Category"]})


def linked(wikitext: str) -> LinkedPage:
    return clean_with_links(CLEANER, wikitext, "Title")


def shown(page: LinkedPage) -> list[str]:
    """The paragraphs, with a `^` in front of each link."""
    texts: list[str] = []
    for section, of_section in zip(page.page.sections, page.links, strict=True):
        for text, offsets in zip(section.paragraphs, of_section, strict=True):
            ends = [*offsets[1:], len(text)]
            start = offsets[0] if offsets else len(text)
            pieces = (text[a:b] for a, b in zip(offsets, ends, strict=False))
            texts.append(text[:start] + "".join(f"^{piece}" for piece in pieces))
    return texts


@pytest.mark.parametrize(
    ("wikitext", "expected"),
    read_cases("wikitext/link_marks", "links_to_pages_are_marked"),
)
def test_links_to_pages_are_marked(wikitext: str, expected: str) -> None:
    assert mark_links(wikitext) == expected.replace("^", SIGN)


@pytest.mark.parametrize(
    "wikitext",
    read_cases("wikitext/link_marks", "what_is_no_link_to_a_page_stays"),
)
def test_what_is_no_link_to_a_page_stays(wikitext: str) -> None:
    assert mark_links(wikitext) == wikitext


@pytest.mark.parametrize(("text", "expected"), read_cases("wikitext/link_marks", "marks_are_found"))
def test_marks_are_found(text: str, expected: list[object]) -> None:
    assert list(find_marks(text.replace("^", SIGN))) == expected


@pytest.mark.parametrize(
    ("wikitext", "expected"),
    read_cases("wikitext/link_marks", "links_of_a_cleaned_page"),
)
def test_links_of_a_cleaned_page(wikitext: str, expected: list[str]) -> None:
    page = linked(wikitext)
    assert shown(page) == expected
    assert page.unknown == 0
    assert page.page == CLEANER.clean(wikitext, "Title")


@pytest.mark.parametrize(
    "wikitext", [f"A {SIGN}b and [[c]].\n\n[[D]].", "A &#xE000;b and [[c]].\n\n[[D]]."]
)
def test_a_sign_in_the_source_is_no_link(wikitext: str) -> None:
    page = linked(wikitext)
    assert page.page == CLEANER.clean(wikitext, "Title")
    assert f"A {SIGN}b and c." in page.page.sections[0].paragraphs
    assert page.links == (((), ()),)
    assert page.unknown == 2


def test_a_paragraph_that_the_signs_change_has_no_known_links() -> None:
    wikitext = "The end.{{oddity}}[[Oslo]] is old.\n\n[[Oslo]] is wet."
    page = linked(wikitext)
    assert page.page.sections[0].paragraphs == ("The end. Oslo is old.", "Oslo is wet.")
    assert page.links == (((), (0,)),)
    assert page.unknown == 1


def test_a_page_that_the_signs_make_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    wikitext = "In [[Oslo]]."
    monkeypatch.setattr(clean, "MAX_CHARACTERS", len(wikitext))
    page = linked(wikitext)
    assert page.page.sections[0].paragraphs == ("In Oslo.",)
    assert (page.links, page.unknown) == ((((),),), 1)


TOKENS = [
    *("[[b]] [[c|d]] {{w|e}} '' {{ ]] g. <br>".split()),
    *("\n\n", "\n== f ==\n", " ", "* "),
]


@given(st.lists(st.sampled_from(TOKENS), max_size=12).map("".join))
def test_links_never_change_the_page(wikitext: str) -> None:
    page = linked(wikitext)
    assert page.page == CLEANER.clean(wikitext, "Title")
    for section, of_section in zip(page.page.sections, page.links, strict=True):
        for text, offsets in zip(section.paragraphs, of_section, strict=True):
            assert list(offsets) == sorted(set(offsets))
            assert all(text[offset] in "bde" for offset in offsets)


@given(st.text(st.sampled_from(f"ab {SIGN}")))
def test_taking_signs_away_keeps_the_rest(text: str) -> None:
    plain, offsets = find_marks(text)
    assert plain == text.replace(SIGN, "")
    assert len(offsets) <= text.count(SIGN)


@needs_real_data
def test_the_links_of_real_pages() -> None:
    encyclopedia = load_site("wikipedia").cleaner({6: ["File"], 10: ["Template"], 14: ["Category"]})
    guides = load_site("wikivoyage").cleaner({6: ["File"], 10: ["Template"], 14: ["Category"]})
    pages = [clean_with_links(encyclopedia, text, title) for title, text in read_articles("en")]
    for file in ("Boston.wikitext", "sample-article-en.wikicode"):
        text = (DATA / "wikimedia/enwikivoyage" / file).read_text(encoding="utf-8")
        pages.append(clean_with_links(guides, text, file))
    paragraphs = [offsets for page in pages for section in page.links for offsets in section]
    assert len(paragraphs) > 2_000
    assert sum(page.unknown for page in pages) <= len(paragraphs) // 1_000
    assert sum(map(bool, paragraphs)) > len(paragraphs) // 2
