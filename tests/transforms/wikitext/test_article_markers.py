import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.transforms.wikitext.article_markers import (
    count_characters,
    find_marker,
    parse_article,
    render_article,
)
from corpusmill.transforms.wikitext.sections import Section

LEAD = Section("", ("Київ — столиця.", "Місто на Дніпрі."))
HISTORY = Section("История", ("Основан в V веке.",))


def test_layout_of_the_released_data() -> None:
    assert render_article("Київ", [LEAD, HISTORY]) == (
        "\n_START_ARTICLE_\nКиїв\n_START_PARAGRAPH_\nКиїв — столиця._NEWLINE_Місто на Дніпрі."
        "\n_START_SECTION_\nИстория\n_START_PARAGRAPH_\nОснован в V веке."
    )


def test_an_article_may_begin_with_a_section() -> None:
    text = render_article("Київ", [HISTORY])
    assert text.startswith("\n_START_ARTICLE_\nКиїв\n_START_SECTION_\nИстория\n_START_PARAGRAPH_\n")
    assert parse_article(text) == ("Київ", (HISTORY,))


line = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1).filter(
    lambda text: not find_marker(text) and "_" not in text
)


@given(
    line,
    st.lists(line, max_size=3),
    st.lists(st.tuples(line, st.lists(line, min_size=1, max_size=3)), max_size=4),
)
def test_parse_is_the_inverse_of_render(
    title: str, lead: list[str], sections: list[tuple[str, list[str]]]
) -> None:
    laid_out = [Section("", tuple(lead))] if lead else []
    laid_out += [Section(heading, tuple(paragraphs)) for heading, paragraphs in sections]
    assert parse_article(render_article(title, laid_out)) == (title, tuple(laid_out))


def test_another_text_is_refused() -> None:
    with pytest.raises(ValueError, match="not an article in Wiki-40B layout"):
        parse_article("b'\\n_START_ARTICLE_'")


@pytest.mark.parametrize(
    ("text", "characters"),
    [("", 0), ("Київ", 4), ("a_NEWLINE_b", 3), ("\n_START_ARTICLE_\nÉ", 2), ("🙂", 1)],
)
def test_a_marker_with_its_line_feeds_is_one_character(text: str, characters: int) -> None:
    assert count_characters(text) == characters
