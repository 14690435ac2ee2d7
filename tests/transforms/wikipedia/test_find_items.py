import re
from pathlib import Path

import apache_beam as beam
import pytest

from corpusmill.transforms.files.records import Article, Rejected
from corpusmill.transforms.wikipedia.article_rows import pack_article
from corpusmill.transforms.wikipedia.join_wikidata import (
    FindItems,
    WikiTables,
    fact_of_existence,
    fact_of_property,
    title_and_item,
)
from corpusmill.transforms.wikipedia.read_entity_table import EntityTable
from corpusmill.transforms.wikipedia.screening import PageFacts
from tests.makers import dump_files
from tests.makers.dump_files import SamplePage
from tests.makers.entity_tables import Item, write_entity_table
from tests.tools.run_pipeline import Outcome, run_transform

TITLES = ["Київ", "Дніпро (річка)", '«Сіль» & "Ключ\'s"', "Невідома"]
ARTICLES = [
    pack_article(Article(number, title, f"{number}0", "text"))
    for number, title in enumerate(TITLES, start=1)
]


@pytest.fixture
def page_props(tmp_path: Path) -> str:
    path = tmp_path / "ukwiki-20260101-page_props.sql.gz"
    rows = [
        (1, "page_image_free", "Q.jpg"),
        (1, "wikibase_item", "Q1899"),
        (2, "wikibase_item", "Q40855"),
        (4, "disambiguation", ""),
        (9, "wikibase_item", "Q9"),
    ]
    dump_files.write_page_props(path, rows, "ukwiki")
    return str(path)


@pytest.fixture
def items_per_site(tmp_path: Path) -> str:
    path = tmp_path / "wikidatawiki-20260101-wb_items_per_site.sql.gz"
    rows = [
        (1899, "enwiki", "Kyiv"),
        (1899, "ukwiki", "Київ"),
        (40855, "ukwiki", "Дніпро (річка)"),
        (7, "ukwiki", '«Сіль» & "Ключ\'s"'),
        (8, "ukwikiquote", "Невідома"),
        (9, "ukwiki", "Категорія:Річки"),
    ]
    dump_files.write_items_per_site(path, rows)
    return str(path)


@pytest.fixture
def page_table(tmp_path: Path) -> str:
    path = tmp_path / "ukwiki-20260101-page.sql.gz"
    dump_files.write_page_table(
        path, [SamplePage(number, 0, f"A {number}", "x", 1) for number in (1, 3)]
    )
    return str(path)


def find(tables: WikiTables, table: EntityTable | None = None) -> Outcome:
    return run_transform(FindItems("ukwiki", tables, table), ARTICLES)


def test_items_by_title_are_those_of_the_wiki(items_per_site: str) -> None:
    outcome = find(WikiTables(items_per_site=[items_per_site]))
    assert sorted(outcome.elements["items"]) == [
        (1, PageFacts("Q1899")),
        (2, PageFacts("Q40855")),
        (3, PageFacts("Q7")),
    ]
    assert outcome.elements["pages"] == []
    assert outcome.counters == {"read-sql-dump/wb_items_per_site": 6}


@pytest.fixture
def table(tmp_path: Path) -> EntityTable:
    items = [
        Item(7, (), {"enwiki": "Salt", "ukwiki": '«Сіль» & "Ключ\'s"'}),
        Item(8, (), {"enwiki": "Невідома"}),
        Item(1899, (), {"enwiki": "Kyiv", "ukwiki": "Київ"}),
        Item(5555, (), {"ukwiki": "Сторінка, якої нема"}),
    ]
    return write_entity_table(tmp_path / "table", items, {})


def test_items_by_the_titles_of_the_entity_table(table: EntityTable, page_table: str) -> None:
    by_title = [
        (page, PageFacts(qid, linked_by="title")) for page, qid in [(1, "Q1899"), (3, "Q7")]
    ]
    exists = [(1, PageFacts(exists=True)), (3, PageFacts(exists=True))]
    for tables, pages in ((WikiTables(), []), (WikiTables(pages=[page_table]), exists)):
        outcome = find(tables, table)
        assert sorted(outcome.elements["items"]) == by_title
        assert sorted(outcome.elements["pages"]) == pages


def test_the_entity_table_links_pages_only_where_nothing_else_does(
    table: EntityTable, page_props: str, items_per_site: str
) -> None:
    for tables in (WikiTables([page_props]), WikiTables(items_per_site=[items_per_site])):
        with_table, without = find(tables, table).elements, find(tables).elements
        assert sorted(with_table["items"]) == sorted(without["items"])


def test_titles_link_what_page_props_of_another_date_do_not(
    table: EntityTable, page_props: str
) -> None:
    """Q1899 is the page's own by its id; page 3 is not in page_props."""
    outcome = find(WikiTables([page_props], dump_date="20260201"), table)
    assert sorted(outcome.elements["items"]) == [
        (1, PageFacts("Q1899", linked_by="page id")),
        (2, PageFacts("Q40855", linked_by="page id")),
        (3, PageFacts("Q7", linked_by="title")),
    ]


def test_a_table_without_the_titles_of_the_wiki_is_refused_where_it_has_to_link_pages(
    tmp_path: Path,
) -> None:
    table = write_entity_table(tmp_path / "other", [Item(7)], {}, ["enwiki"])
    with pytest.raises(ValueError, match="no titles of ukwiki"):
        run_transform(FindItems("ukwiki", WikiTables(), table), [])
    by_property = FindItems("ukwiki", WikiTables(page_props=["page_props.sql"]), table)
    _ = beam.Pipeline() | beam.Create([]) | by_property


@pytest.mark.parametrize(
    ("row", "facts"),
    [
        ((b"12", b"wikibase_item", b"Q64"), [("items", (12, PageFacts("Q64")))]),
        ((b"12", b"disambiguation", b""), [("pages", (12, PageFacts(is_disambiguation=True)))]),
        ((b"12", b"disambiguation", None), [("pages", (12, PageFacts(is_disambiguation=True)))]),
        ((b"12", b"wikibase_item", b""), []),
        ((b"12", b"wikibase_item", None), []),
        ((b"12", b"defaultsort", b"Q64"), []),
    ],
)
def test_fact_of_property(
    row: tuple[bytes | None, ...], facts: list[tuple[str, tuple[int, PageFacts]]]
) -> None:
    found = list(fact_of_property(row))
    assert [(getattr(one, "tag", "items"), getattr(one, "value", one)) for one in found] == facts


@pytest.mark.parametrize(
    ("row", "found"),
    [
        ((b"64", b"ukwiki", "Берлін".encode()), [("Берлін", "Q64")]),
        ((b"64", b"ukwiki", b"New York City"), [("New York City", "Q64")]),
        ((b"64", b"ukwiki", b"New_York_City"), [("New York City", "Q64")]),
        ((b"64", b"ruwiki", b"X"), []),
        ((b"64", b"ukwikisource", b"X"), []),
        ((b"64", None, b"X"), []),
        ((b"64", b"ukwiki", None), []),
        ((None, b"ukwiki", b"X"), []),
    ],
)
def test_title_and_item(row: tuple[bytes | None, ...], found: list[tuple[str, str]]) -> None:
    assert list(title_and_item(row, "ukwiki")) == found


@pytest.mark.parametrize("page", [b"-3", "٣".encode(), b"1_000", b"1e3", b"%d" % 2**64, None])
def test_ids_that_are_none(page: bytes | None) -> None:
    for parse, row in (
        (fact_of_property, (page, b"wikibase_item", b"Q64")),
        (fact_of_property, (page, b"disambiguation", b"")),
        (fact_of_existence, (page,)),
        (title_and_item, (page or b"x", b"ukwiki", b"A")),
    ):
        settings = {"dbname": "ukwiki"} if parse is title_and_item else {}
        with pytest.raises(ValueError, match=r"id is .*, expected a number with 1 to 18 digits"):
            list(parse(row, **settings))


@pytest.mark.parametrize("item", [b"64", b"Q0", b"Q%d" % 2**64, "Q٣".encode()])
def test_items_that_are_none(item: bytes) -> None:
    with pytest.raises(ValueError, match=r"the item is .*; expected one like 'Q64'|'ascii' codec"):
        list(fact_of_property((b"12", b"wikibase_item", item)))


MALFORMED = f"INSERT INTO `page` VALUES (1),({2**64}),(3);"


def test_malformed_rows_are_an_error_or_rejected(tmp_path: Path) -> None:
    path = tmp_path / "ukwiki-20260101-page.sql"
    path.write_text(f"CREATE TABLE `page` (`page_id` int);\n{MALFORMED}\n")
    message = f"the page id is '{2**64}', expected a number with 1 to 18 digits"
    tables = WikiTables(pages=[str(path)])
    with pytest.raises(Exception, match=re.escape(f"InputError: {path}: row 2 of page: {message}")):
        find(tables)
    outcome = find(tables._replace(on_corrupt="keep-good"))
    assert sorted(outcome.elements["pages"]) == [
        (1, PageFacts(exists=True)),
        (3, PageFacts(exists=True)),
    ]
    assert outcome.elements["rejected"] == [
        Rejected(f"{path.name}, row 2 of page", "", "read-sql-dump", "malformed-row", message)
    ]
    assert outcome.counters == {"read-sql-dump/page": 3, "read-sql-dump/malformed-row": 1}
