import itertools
from collections.abc import Sequence
from pathlib import Path

import apache_beam as beam
import pytest

from corpusmill.transforms.files.records import Article, PackedArticle, Rejected
from corpusmill.transforms.files.scratch import Scratch
from corpusmill.transforms.wikipedia.article_rows import pack_article, to_bytes, unpack_text
from corpusmill.transforms.wikipedia.join_wikidata import (
    LinkPages,
    WikiTables,
    newest_first,
)
from corpusmill.transforms.wikipedia.read_entity_table import EntityTable
from corpusmill.transforms.wikipedia.split_pins import ReadSplitPins, find_pins
from tests.makers import dump_files
from tests.makers.dump_files import SamplePage
from tests.makers.entity_tables import Item, write_entity_table
from tests.tools.run_pipeline import Outcome, run_inputs, run_transform

STAGE = "join-wikidata"
TITLES = {
    1: "Київ",
    2: "Ключ",
    3: "Верба",
    4: "Список річок",
    5: "Покажчик сіл",
    6: "Тиховодка",
    7: "Левада",
    8: "Вишивка",
    9: "Двозначна сторінка",
}
ARTICLES = [
    pack_article(Article(number, title, f"{number}0", f"text {number}"))
    for number, title in TITLES.items()
]
ITEMS = {1: "Q1899", 3: "Q503", 4: "Q504", 5: "Q505", 7: "Q507", 8: "Q508", 9: "Q509"}
PAGE_OF_ITEM = {qid: page for page, qid in ITEMS.items()}


@pytest.fixture
def page_props(tmp_path: Path) -> str:
    rows = [(page, "wikibase_item", qid) for page, qid in ITEMS.items()]
    rows += [(2, "disambiguation", ""), (99, "wikibase_item", "Q99")]
    path = tmp_path / "ukwiki-20260101-page_props.sql.gz"
    dump_files.write_page_props(path, rows, "ukwiki")
    return str(path)


@pytest.fixture
def items_per_site(tmp_path: Path) -> str:
    path = tmp_path / "wikidatawiki-20260101-wb_items_per_site.sql.gz"
    rows = [(int(qid[1:]), "ukwiki", TITLES[page]) for page, qid in ITEMS.items()]
    dump_files.write_items_per_site(path, [(5, "ukwikibooks", TITLES[6]), *rows])
    return str(path)


KINDS = {
    515515: "template",
    600: "disambiguation",
    601: "internal",
    4167410: "disambiguation",
    4167836: "category",
    11266439: "template",
    13406463: "list",
    13406464: "list",
}


@pytest.fixture
def table(tmp_path: Path) -> EntityTable:
    classes = {
        1899: [515],
        503: [600],
        504: [515, 13406463],
        505: [601],
        507: [],
        509: [13406463, 4167410],
        600: [],
    }
    items = [
        Item(number, of_item, {"ukwiki": TITLES[page]} if page else {})
        for number, of_item in classes.items()
        for page in [PAGE_OF_ITEM.get(f"Q{number}")]
    ]
    return write_entity_table(tmp_path / "table", items, KINDS)


def join(
    tables: WikiTables,
    table: EntityTable | None = None,
    articles: list[PackedArticle] | None = None,
    pins: Sequence[Path] = (),
) -> Outcome:
    return run_inputs(
        lambda packed: packed | LinkPages("ukwiki", tables, table, read_pins(packed, pins)),
        packed=ARTICLES if articles is None else articles,
    )


def read_pins(beside: beam.PCollection, pins: Sequence[Path]) -> beam.PCollection | None:
    files = find_pins([str(path) for path in pins]).files
    return beside.pipeline | "ReadSplitPins" >> ReadSplitPins(files) if pins else None


def kept_items(outcome: Outcome) -> dict[int, str]:
    return {article.page_id: article.wikidata_id for article in outcome.elements["kept"]}


def test_pages_with_their_items_and_classes(page_props: str, table: EntityTable) -> None:
    outcome = join(WikiTables(page_props=[page_props]), table)
    assert sorted(outcome.elements["kept"]) == [
        ARTICLES[0]._replace(classes=(515,), wikidata_id="Q1899"),
        ARTICLES[6]._replace(wikidata_id="Q507"),
        ARTICLES[7]._replace(wikidata_id="Q508"),
    ]
    assert sorted(outcome.elements["rejected"]) == [
        Rejected("2", "Ключ", STAGE, "disambiguation", "page property"),
        Rejected("3", "Верба", STAGE, "disambiguation", "Q503 is a Q600"),
        Rejected("4", "Список річок", STAGE, "list", "Q504 is a Q13406463"),
        Rejected("5", "Покажчик сіл", STAGE, "internal-entity", "Q505 is a Q601"),
        Rejected("6", "Тиховодка", STAGE, "no-entity", ""),
        Rejected("9", "Двозначна сторінка", STAGE, "disambiguation", "Q509 is a Q4167410"),
    ]
    assert outcome.elements["class_unknown"] == [1]
    assert outcome.counters == {
        "join-wikidata/linked": 3,
        "join-wikidata/disambiguation": 3,
        "join-wikidata/list": 1,
        "join-wikidata/internal-entity": 1,
        "join-wikidata/no-entity": 1,
        "read-entity-table/row_groups": 4,
        "read-sql-dump/page_props": 9,
    }


def test_properties_and_titles_link_the_same_items(
    page_props: str, items_per_site: str, table: EntityTable
) -> None:
    by_property = join(WikiTables(page_props=[page_props]), table)
    by_title = join(WikiTables(items_per_site=[items_per_site]), table)
    by_both = join(WikiTables([page_props], [items_per_site]), table)
    assert sorted(by_both.elements["kept"]) == sorted(by_property.elements["kept"])
    assert sorted(by_both.elements["rejected"]) == sorted(by_property.elements["rejected"])
    assert kept_items(by_title) == kept_items(by_property)
    reasons = {one.id: one.reason for one in by_title.elements["rejected"]}
    assert reasons == {one.id: one.reason for one in by_property.elements["rejected"]} | {
        "2": "no-entity"
    }


def test_the_table_alone_links_by_title(items_per_site: str, table: EntityTable) -> None:
    """Item 508 is not in the table, so its sitelink is not either: its page has no entity."""
    by_title = join(WikiTables(items_per_site=[items_per_site]), table)
    outcome = join(WikiTables(), table)
    assert kept_items(outcome) == {1: "Q1899", 7: "Q507"}
    assert outcome.elements["class_unknown"] == []
    assert sorted(outcome.elements["rejected"]) == sorted(
        [
            *by_title.elements["rejected"],
            Rejected("8", "Вишивка", STAGE, "no-entity", ""),
        ]
    )


def test_a_page_that_is_not_in_the_page_table_was_deleted(page_props: str, tmp_path: Path) -> None:
    path = tmp_path / "ukwiki-20260101-page.sql.gz"
    present = [SamplePage(number, 0, TITLES[number], "x", 1) for number in (1, 6)]
    dump_files.write_page_table(path, present, "ukwiki")
    outcome = join(WikiTables(page_props=[page_props], pages=[str(path)]))
    assert kept_items(outcome) == {1: "Q1899"}
    rejected = {one.id: (one.reason, one.detail) for one in outcome.elements["rejected"]}
    gone = ("deleted", "not in the page table")
    assert rejected == {"6": ("no-entity", "")} | {
        str(number): gone for number in (2, 3, 4, 5, 7, 8, 9)
    }


def test_of_a_page_that_comes_twice_the_newest_revision_stays(page_props: str) -> None:
    older = ARTICLES[0]._replace(version_id="9")
    copy = ARTICLES[5]
    outcome = join(WikiTables(page_props=[page_props]), None, [older, ARTICLES[0], copy, copy])
    assert outcome.elements["kept"] == [ARTICLES[0]._replace(wikidata_id="Q1899")]
    detail = "the dump files overlap; the newest revision stays"
    assert sorted(outcome.elements["rejected"]) == [
        Rejected("1", "Київ", STAGE, "repeated-page", detail),
        Rejected("6", "Тиховодка", STAGE, "no-entity", ""),
        Rejected("6", "Тиховодка", STAGE, "repeated-page", detail),
    ]


def test_pinned_splits(page_props: str, table: EntityTable, tmp_path: Path) -> None:
    """An article has the split of its item; of Q508, which the table lacks, too."""
    pins = tmp_path / "pins.tsv"
    rows = {"Q1899": "test", "Q508": "train", "Q504": "test", "Q6": "test", "ukwiki:7": "test"}
    lines = [f"{identity}\t{split}\n" for identity, split in rows.items()]
    pins.write_text("wikidata_id\tsplit\n" + "".join(lines), "utf-8")
    tables = WikiTables(page_props=[page_props])
    outcome = join(tables, table, pins=[pins])
    assert sorted(outcome.elements["kept"]) == [
        ARTICLES[0]._replace(classes=(515,), wikidata_id="Q1899", split="test"),
        ARTICLES[6]._replace(wikidata_id="Q507"),
        ARTICLES[7]._replace(wikidata_id="Q508", split="train"),
    ]
    without = join(tables, table)
    assert sorted(outcome.elements["rejected"]) == sorted(without.elements["rejected"])
    assert outcome.elements["class_unknown"] == without.elements["class_unknown"]
    assert outcome.counters == without.counters | {"read-split-pins/pins": 5}


def test_identity_by_page() -> None:
    older = ARTICLES[1]._replace(version_id="3")
    outcome = run_transform(LinkPages("ukwiki"), [ARTICLES[0], older, ARTICLES[1]])
    assert sorted(outcome.elements["kept"]) == [
        ARTICLES[0]._replace(wikidata_id="ukwiki:1"),
        ARTICLES[1]._replace(wikidata_id="ukwiki:2"),
    ]
    (repeated,) = outcome.elements["rejected"]
    assert (repeated.id, repeated.stage, repeated.reason) == (
        "2",
        "identify-by-page",
        "repeated-page",
    )
    assert outcome.elements["class_unknown"] == []
    assert outcome.counters == {
        "identify-by-page/linked": 2,
        "identify-by-page/repeated-page": 1,
    }


def test_identity_by_page_with_a_page_table(tmp_path: Path) -> None:
    path = tmp_path / "ukwiki-20260101-page.sql.gz"
    present = [SamplePage(number, 0, "A", "x", 1) for number in (1, 99)]
    dump_files.write_page_table(path, present, "ukwiki")
    outcome = run_transform(LinkPages("ukwiki", WikiTables(pages=[str(path)])), ARTICLES[:2])
    assert outcome.elements["kept"] == [ARTICLES[0]._replace(wikidata_id="ukwiki:1")]
    assert outcome.elements["rejected"] == [
        Rejected("2", "Ключ", "identify-by-page", "deleted", "not in the page table")
    ]
    assert outcome.counters == {
        "identify-by-page/linked": 1,
        "identify-by-page/deleted": 1,
        "read-sql-dump/page": 2,
    }


def test_pins_of_identities_by_page(tmp_path: Path) -> None:
    pins = tmp_path / "pins.tsv"
    lines = ["ukwiki:1\ttest", "ukwiki:3\ttrain", "elwiki:2\ttest", "Q2\ttest", "ukwiki:99\ttest"]
    pins.write_text("\n".join(["wikidata_id\tsplit", *lines]))
    page_table = tmp_path / "ukwiki-20260101-page.sql.gz"
    present = [SamplePage(number, 0, "A", "x", 1) for number in (1, 2)]
    dump_files.write_page_table(page_table, present, "ukwiki")

    def identify(page_tables: Sequence[str]) -> Outcome:
        return run_inputs(
            lambda packed: (
                packed
                | LinkPages(
                    "ukwiki", WikiTables(pages=page_tables), None, read_pins(packed, [pins])
                )
            ),
            packed=ARTICLES[:3],
        )

    outcome = identify([])
    kept = [
        ARTICLES[0]._replace(wikidata_id="ukwiki:1", split="test"),
        ARTICLES[1]._replace(wikidata_id="ukwiki:2"),
        ARTICLES[2]._replace(wikidata_id="ukwiki:3", split="train"),
    ]
    assert sorted(outcome.elements["kept"]) == kept
    assert outcome.elements["rejected"] == []
    outcome = identify([str(page_table)])
    assert sorted(outcome.elements["kept"]) == kept[:2]
    assert [(one.id, one.reason) for one in outcome.elements["rejected"]] == [("3", "deleted")]


def test_revisions_are_compared_as_numbers() -> None:
    articles = [pack_article(Article(1, "A", version, "t")) for version in ("99", "100", "9")]
    newest = newest_first(map(to_bytes, articles))
    assert newest == [articles[1], articles[0], articles[2]]


def test_texts_of_one_revision_are_ordered_wherever_they_are_stored(tmp_path: Path) -> None:
    texts = ["b", "a", "c"]
    articles = [
        pack_article(Article(1, "A", "7", one), Scratch(str(tmp_path)).put_text) for one in texts
    ]
    for arrived in itertools.permutations(map(to_bytes, articles)):
        assert list(map(unpack_text, newest_first(arrived))) == ["c", "b", "a"]
