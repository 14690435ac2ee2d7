from hypothesis import given
from hypothesis import strategies as st

from corpusmill.transforms.files.records import CorpusStats
from corpusmill.transforms.wikitext.article_markers import (
    add_stats,
    measure_article,
    render_article,
)
from corpusmill.transforms.wikitext.sections import Section


def test_measure_article() -> None:
    text = render_article(
        "Mount Fuji", [Section("", ("A high 山.", "Two.")), Section("Name", ("Old.",))]
    )
    assert measure_article(text) == CorpusStats(
        articles=1,
        sections=1,
        paragraphs=3,
        words=2 + 3 + 1 + 1 + 1,
        characters=len("AMount FujiPA high 山.NTwo.SNamePOld."),
        text_bytes=len(text.encode()),
        line_feeds=8,
    )


counts = st.builds(CorpusStats, *[st.integers(0, 10**9)] * len(CorpusStats._fields))


@given(st.lists(counts), st.lists(counts))
def test_sums_do_not_depend_on_grouping_or_order(
    one: list[CorpusStats], two: list[CorpusStats]
) -> None:
    assert add_stats([add_stats(one), add_stats(two)]) == add_stats([*two, *one])
