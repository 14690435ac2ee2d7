import pytest

from corpusmill.transforms.files.records import Page
from corpusmill.transforms.wikipedia import wikidata
from tests.tools.case_tables import read_cases, read_tables

CASES = read_tables("wikipedia")

DUMP = "20261101"


@pytest.mark.parametrize(
    ("dates", "chosen"), read_cases("wikipedia/link_sources", "which_tables_link_pages")
)
def test_which_tables_link_pages(dates: dict[str, str], chosen: list[str]) -> None:
    """ "=" marks those that are exact."""
    sources = wikidata.choose_sources(DUMP, dates)
    assert [one.table + "=" * one.is_exact for one in sources] == chosen
    assert all(one.date == dates[one.table] for one in sources)


def test_without_the_date_of_the_dump_tables_are_taken_to_be_of_it() -> None:
    (source,) = wikidata.choose_sources("", {"page_props": "20261001", "entities": DUMP})
    assert source == wikidata.LinkSource("page_props", "page id", "20261001", True)
    assert not wikidata.is_of_another_date([source], "")


def test_what_the_manifest_says_of_tables() -> None:
    assert wikidata.describe_sources(wikidata.choose_sources(DUMP, {"page_props": DUMP})) == {}
    assert wikidata.describe_sources(
        wikidata.choose_sources(DUMP, {"page_props": "20261001", "entities": ""})
    ) == {
        "linked_from": [
            {"table": "page_props", "by": "page id", "date": "20261001"},
            {"table": "entities", "by": "title", "date": None},
        ]
    }


@pytest.mark.parametrize(
    ("dates", "since"), read_cases("wikipedia/link_sources", "since_when_redirects_are_followed")
)
def test_since_when_redirects_are_followed(dates: dict[str, str], since: str) -> None:
    assert wikidata.redirects_since(wikidata.choose_sources(DUMP, dates)) == since


MOVE = Page(
    page_id=9,
    namespace=0,
    title="PS",
    revision_id=1,
    content_model="wikitext",
    is_redirect=True,
    is_deleted=False,
    text="#ΑΝΑΚΑΤΕΥΘΥΝΣΗ [[PS (αποσαφήνιση)]]\n\n{{R from move}}",
    redirect_target="PS (αποσαφήνιση)",
    created="2026-10-15T14:51:15Z",
    comment="Ο Παρακολουθητής μετακίνησε τη σελίδα [[PS]] στην [[PS (αποσαφήνιση)]]: Είναι αποσαφήνιση",
)


@pytest.mark.parametrize(("changed", "since", "is_followed"), CASES["moves"])
def test_redirects_that_moves_leave(
    changed: dict[str, object], since: str, is_followed: bool
) -> None:
    found = wikidata.redirect_of_move(MOVE._replace(**changed), since)  # type: ignore[arg-type]
    assert found == (wikidata.Redirect("PS", "PS (αποσαφήνιση)") if is_followed else None)


@pytest.mark.parametrize(("title", "key"), CASES["title_keys"])
def test_keys_of_titles(title: str, key: str) -> None:
    assert wikidata.title_key(title) == wikidata.title_key(key) == key


def test_keys_where_the_first_letter_counts() -> None:
    assert wikidata.title_key("element_5", is_case_sensitive=True) == "element 5"
