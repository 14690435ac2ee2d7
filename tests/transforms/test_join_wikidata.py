import itertools
from pathlib import Path

import apache_beam as beam
import pytest

from tests import dump_files
from tests.dump_files import SamplePage, wikidata_item
from tests.transforms.run_pipeline import Outcome, run_pipeline, run_transform
from transforms.close_classes import InternalClasses
from transforms.find_items import WikiTables
from transforms.join_wikidata import (
    IdentifyByPage,
    JoinWikidata,
    add_class,
    class_of_item,
    key_by_item,
)
from transforms.pack_articles import pack_article
from transforms.read_entities import ReadEntities
from transforms.records import Article, PackedArticle, Rejected
from transforms.text.wikimedia.screening import PageFacts
from transforms.text.wikimedia.wikidata_json import Entity

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


@pytest.fixture
def entities(tmp_path: Path) -> str:
    path = tmp_path / "wikidata-20260101-all.json.gz"
    dump_files.write_entities(
        path,
        [
            wikidata_item("Q1899", {}, {"P31": ["Q515"]}, {}),
            wikidata_item("Q503", {}, {"P31": ["Q600"]}, {}),
            wikidata_item("Q504", {}, {"P31": ["Q515", "Q13406463"]}, {}),
            wikidata_item("Q505", {}, {"P31": ["Q601"]}, {}),
            wikidata_item("Q507", {}, {"P31": ["Q4167410"]}, {}, deprecated=["Q4167410"]),
            wikidata_item("Q509", {}, {"P31": ["Q13406463", "Q4167410"]}, {}),
            wikidata_item("Q600", {}, {"P279": ["Q4167410"]}, {}),
            wikidata_item("Q601", {}, {"P279": ["Q602"]}, {}),
            wikidata_item("Q602", {}, {"P279": ["Q17442446", "Q601"]}, {}),
        ],
    )
    return str(path)


def join(
    tables: WikiTables, entities: str = "", articles: list[PackedArticle] | None = None
) -> Outcome:
    def build(root: beam.Pipeline) -> dict[str, beam.PCollection]:
        read = root | "ReadEntities" >> ReadEntities([entities]) if entities else None
        elements = ARTICLES if articles is None else articles
        packed = root | "Articles" >> beam.Create(elements, reshuffle=False)
        linked = packed | JoinWikidata("ukwiki", tables, read.entities if read else None)
        return linked._asdict()

    return run_pipeline(build)


def kept_items(outcome: Outcome) -> dict[int, str]:
    return {article.page_id: article.wikidata_id for article in outcome.elements["kept"]}


def test_pages_with_their_items_and_classes(page_props: str, entities: str) -> None:
    outcome = join(WikiTables(page_props=[page_props]), entities)
    assert sorted(outcome.elements["kept"]) == [
        ARTICLES[0]._replace(wikidata_id="Q1899"),
        ARTICLES[6]._replace(wikidata_id="Q507"),
        ARTICLES[7]._replace(wikidata_id="Q508"),
    ]
    assert sorted(outcome.elements["rejected"]) == [
        Rejected("2", "Ключ", STAGE, "disambiguation", "page property"),
        Rejected("3", "Верба", STAGE, "disambiguation", "Q503 is a Q600"),
        Rejected("4", "Список річок", STAGE, "internal-entity", "Q504 is a Q13406463"),
        Rejected("5", "Покажчик сіл", STAGE, "internal-entity", "Q505 is a Q601"),
        Rejected("6", "Тиховодка", STAGE, "no-entity", ""),
        Rejected("9", "Двозначна сторінка", STAGE, "disambiguation", "Q509 is a Q4167410"),
    ]
    assert outcome.elements["class_unknown"] == ["Q508"]
    assert outcome.counters == {
        "join-wikidata/linked": 3,
        "join-wikidata/disambiguation": 3,
        "join-wikidata/internal-entity": 2,
        "join-wikidata/no-entity": 1,
        "read-entities/entities": 9,
        "read-sql-dump/page_props": 9,
    }


def test_without_an_entity_dump_every_class_is_unknown(page_props: str) -> None:
    outcome = join(WikiTables(page_props=[page_props]))
    assert kept_items(outcome) == ITEMS
    assert sorted(outcome.elements["class_unknown"]) == sorted(ITEMS.values())
    assert {(one.id, one.reason) for one in outcome.elements["rejected"]} == {
        ("2", "disambiguation"),
        ("6", "no-entity"),
    }


def test_properties_and_titles_link_the_same_items(
    page_props: str, items_per_site: str, entities: str
) -> None:
    by_property = join(WikiTables(page_props=[page_props]), entities)
    by_title = join(WikiTables(items_per_site=[items_per_site]), entities)
    by_both = join(WikiTables([page_props], [items_per_site]), entities)
    assert sorted(by_both.elements["kept"]) == sorted(by_property.elements["kept"])
    assert sorted(by_both.elements["rejected"]) == sorted(by_property.elements["rejected"])
    assert kept_items(by_title) == kept_items(by_property)
    reasons = {one.id: one.reason for one in by_title.elements["rejected"]}
    assert reasons == {one.id: one.reason for one in by_property.elements["rejected"]} | {
        "2": "no-entity"
    }


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
    outcome = join(WikiTables(page_props=[page_props]), "", [older, ARTICLES[0], copy, copy])
    assert outcome.elements["kept"] == [ARTICLES[0]._replace(wikidata_id="Q1899")]
    detail = "the dump files overlap; the newest revision stays"
    assert sorted(outcome.elements["rejected"]) == [
        Rejected("1", "Київ", STAGE, "repeated-page", detail),
        Rejected("6", "Тиховодка", STAGE, "no-entity", ""),
        Rejected("6", "Тиховодка", STAGE, "repeated-page", detail),
    ]


def test_a_line_that_is_no_entity_says_nothing_of_a_class(page_props: str, tmp_path: Path) -> None:
    path = tmp_path / "wikidata-20260101-all.json"
    path.write_bytes(b'[\n{"id":"Q1899","claims":{\n{"type":"item","id":"Q508"}\n]\n')
    outcome = join(WikiTables(page_props=[page_props]), str(path))
    assert kept_items(outcome) == ITEMS
    assert sorted(outcome.elements["class_unknown"]) == sorted(set(ITEMS.values()) - {"Q508"})


def test_tables_that_link_nothing_are_refused() -> None:
    with pytest.raises(ValueError, match="neither page_props nor items_per_site"):
        JoinWikidata("ukwiki", WikiTables(pages=["page.sql"]))


def test_identity_by_page() -> None:
    older = ARTICLES[1]._replace(version_id="3")
    outcome = run_transform(IdentifyByPage("ukwiki"), [ARTICLES[0], older, ARTICLES[1]])
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
    outcome = run_transform(IdentifyByPage("ukwiki", [str(path)]), ARTICLES[:2])
    assert outcome.elements["kept"] == [ARTICLES[0]._replace(wikidata_id="ukwiki:1")]
    assert outcome.elements["rejected"] == [
        Rejected("2", "Ключ", "identify-by-page", "deleted", "not in the page table")
    ]
    assert outcome.counters == {
        "identify-by-page/linked": 1,
        "identify-by-page/deleted": 1,
        "read-sql-dump/page": 2,
    }


INTERNAL = InternalClasses(frozenset({"Q1", "Q2", "Q4167410"}), frozenset({"Q2", "Q4167410"}))


@pytest.mark.parametrize(
    ("classes", "facts"),
    [
        ((), PageFacts(is_class_known=True)),
        (("Q5",), PageFacts(is_class_known=True)),
        (("Q5", "Q1"), PageFacts(internal_class="Q1", is_class_known=True)),
        (("Q1", "Q2"), PageFacts(is_disambiguation=True, internal_class="Q2", is_class_known=True)),
        (
            ("Q4167410", "Q2"),
            PageFacts(is_disambiguation=True, internal_class="Q2", is_class_known=True),
        ),
    ],
)
def test_class_of_item(classes: tuple[str, ...], facts: PageFacts) -> None:
    assert class_of_item(Entity("Q7", classes, (), ()), INTERNAL) == ("Q7", facts)


def test_facts_without_an_item_are_keyed_by_their_page() -> None:
    assert key_by_item((7, PageFacts("Q5"))) == ("Q5", (7, PageFacts("Q5")))
    assert key_by_item((7, PageFacts(exists=True))) == ("page 7", (7, PageFacts(exists=True)))


def test_of_two_entity_dumps_the_one_that_calls_an_item_internal_decides() -> None:
    known = PageFacts(is_class_known=True)
    internal = PageFacts(internal_class="Q1", is_class_known=True)
    for order in itertools.permutations([known, internal]):
        found = {"facts": [(1, PageFacts("Q5"))], "class": order}
        assert list(add_class("Q5", found)) == [(1, internal._replace(qid="Q5"))]
