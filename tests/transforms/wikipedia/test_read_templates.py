from pathlib import Path

import apache_beam as beam
import pytest
from apache_beam.testing.util import assert_that, equal_to

from corpusmill.transforms.wikipedia.clean_wikitext import ReadTemplates
from corpusmill.transforms.wikipedia.read_dumps import ReadDump
from corpusmill.transforms.wikipedia.read_entity_table import EntityTable
from corpusmill.transforms.wikitext.language import load_language
from corpusmill.transforms.wikitext.templates.definitions import NO_TEMPLATES, WikiTemplates
from tests.makers import dump_files
from tests.makers.dump_files import SamplePage
from tests.makers.entity_tables import Item, write_entity_table
from tests.tools.run_pipeline import run_pipeline

HEADER = dump_files.dump_header("ukwiki", "uk", "Вікіпедія", {0: "", 10: "Шаблон"})


def template(number: int, name: str, text: str, redirect_to: str = "") -> SamplePage:
    return SamplePage(number, 10, f"Шаблон:{name}", text, number, redirect_to=redirect_to)


PAGES = [
    SamplePage(1, 0, "Генн", "Генн {{Річка моя|5}} {{річка моя}} {{Тече|а}} {{Lang|de|a}}.", 1),
    SamplePage(2, 0, "Уза", "Уза {{Тече|б}} {{Картка:річка}} {{Мовою|en|x}} {{A&B}}.", 2),
    SamplePage(3, 4, "Вікіпедія:Про", "{{Не в статті}}", 3),
    template(4, "Річка моя", "річка {{довжиною|{{{1}}}}}<noinclude>опис</noinclude>"),
    template(5, "Довжиною", "{{{1}}} км завдовжки"),
    template(6, "Тече", "#ПЕРЕНАПРАВЛЕННЯ [[Шаблон:Плине]]", "Шаблон:Плине"),
    template(7, "Плине", "плине {{{1}}}"),
    template(8, "Не в статті", "ніде"),
    template(9, "Lang", "{{{2}}} по-своєму"),
    template(10, "Таблиця", "{| x\n|}"),
    template(11, "A&B", "і те, і те"),
]
ITEMS = [
    Item(1, (), {"enwiki": "Template:Lang", "ukwiki": "Шаблон:Мовою"}),
    Item(2, (), {"enwiki": "Template:In no table", "ukwiki": "Шаблон:Тече"}),
    Item(3, (), {"enwiki": "Lang", "ukwiki": "Мова"}),
    Item(4, (), {"enwiki": "Template:Convert"}),
]


def read(path: Path, table: EntityTable | None = None) -> WikiTemplates:
    uk, namespaces = load_language("uk"), {10: ("Шаблон",)}
    reading = ReadTemplates(uk, namespaces, "ukwiki", table)
    (templates,) = run_pipeline(
        lambda root: (root | ReadDump([str(path)], 2)).pages | reading
    ).elements["templates"]
    assert isinstance(templates, WikiTemplates)
    return templates


def test_what_articles_call_and_no_table_knows(tmp_path: Path) -> None:
    path = tmp_path / "ukwiki-20260101-pages-articles-multistream.xml.bz2"
    dump_files.write_multistream(path, tmp_path / "index", HEADER, PAGES, 3)
    table = write_entity_table(tmp_path / "table", ITEMS, {})
    templates = WikiTemplates(
        aliases={"тече": "плине", "мовою": "lang"},
        definitions={
            "річка моя": "річка {{довжиною|{{{1}}}}}",
            "довжиною": "{{{1}}} км завдовжки",
            "плине": "плине {{{1}}}",
            "a&b": "і те, і те",
        },
    )
    assert read(path, table=table) == templates
    assert read(path) == templates._replace(aliases={"тече": "плине"})


def test_where_no_template_is_of_use_there_is_one_table_on_every_runner(tmp_path: Path) -> None:
    path = tmp_path / "ukwiki-20260101-pages-articles.xml"
    dump_files.write_xml(path, HEADER, PAGES[2:3])
    assert read(path) == NO_TEMPLATES
    with beam.Pipeline(runner="BundleBasedDirectRunner") as root:
        reading = ReadTemplates(load_language("uk"), {10: ("Шаблон",)}, "ukwiki")
        pages = (root | ReadDump([str(path)])).pages
        assert_that((pages | reading).templates, equal_to([NO_TEMPLATES]))


def test_a_table_without_the_titles_of_the_wiki_is_refused(tmp_path: Path) -> None:
    table = write_entity_table(tmp_path / "table", ITEMS, {}, ["elwiki", "enwiki"])
    reading = ReadTemplates(load_language("uk"), {}, "ukwiki", table)
    with pytest.raises(ValueError, match="no titles of ukwiki"):
        _ = beam.Pipeline() | beam.Create([]) | reading


def test_only_the_most_used_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("corpusmill.transforms.wikipedia.clean_wikitext.MAX_TEMPLATES", 2)
    path = tmp_path / "ukwiki-20260101-pages-articles-multistream.xml.bz2"
    dump_files.write_multistream(path, tmp_path / "index", HEADER, PAGES, 3)
    templates = read(path)
    assert templates.definitions == {"річка моя": "річка {{довжиною|{{{1}}}}}"}
    assert templates.aliases == {"тече": "плине"}


PROSE = "Хата стояла край довгої дороги, якою вже багато років ніхто не ходив. " * 9
ENDING = f"{PROSE}\n== Опис ==\n{PROSE}\n== Звідки ==\n<references/>\n"


def read_headings(path: Path, pages: list[SamplePage]) -> list[tuple[str, int]]:
    dump_files.write_xml(path, HEADER, pages)
    reading = ReadTemplates(load_language("uk"), {}, "ukwiki", learns_headings=True)
    outcome = run_pipeline(lambda root: (root | ReadDump([str(path)], 2)).pages | reading).elements
    (headings,) = outcome["headings"]
    (templates,) = outcome["templates"]
    assert templates.headings == {one.name: one.is_top_only for one in headings}
    return [(one.name, one.counts.sections) for one in headings]


def test_headings_are_learned_from_articles_alone(tmp_path: Path) -> None:
    articles = [SamplePage(n, 0, "Хата" * n, ENDING, n) for n in range(1, 8)]
    others = [
        SamplePage(11, 4, "Вікіпедія:Хата", ENDING, 11),
        SamplePage(12, 0, "Дорога", ENDING, 12, redirect_to="Хата"),
        SamplePage(13, 0, "Код", ENDING, 13, model="javascript"),
    ]
    assert read_headings(tmp_path / "uk.xml", articles + others) == [("звідки", 7)]


def test_only_the_most_frequent_headings_are_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = f"{ENDING}== Ще ==\n* [[Дорога]]\n"
    articles = [SamplePage(n, 0, "Хата" * n, text, n) for n in range(1, 8)]
    articles += [SamplePage(n, 0, "Дім" * n, ENDING, n) for n in range(8, 10)]
    path = tmp_path / "uk.xml"
    assert read_headings(path, articles) == [("звідки", 9), ("ще", 7)]
    monkeypatch.setattr("corpusmill.transforms.wikipedia.clean_wikitext.MAX_HEADINGS", 3)
    assert read_headings(path, articles) == [("звідки", 9)]
