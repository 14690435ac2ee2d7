"""Wikipedias whose tables nobody made, in one run over a folder that also has wikis of other kinds."""

from pathlib import Path

import pytest

from corpusmill.pipelines.wiki40b_settings import VERSION
from corpusmill.transforms.wikitext.wikis import cldr_version
from tests.makers import dump_files
from tests.makers.dump_files import SamplePage
from tests.makers.wiki_builds import DATE, Build, run_cli
from tests.tools.case_tables import read_tables

pytestmark = pytest.mark.slow

WIKIS = read_tables("pipelines/other_wikipedias")
# In place of the tables' label goes that of the wiki's own template; a redirect has no element of its own.
MORE_PAGES = {
    "bn": [
        SamplePage(2, 10, "টেমপ্লেট:Lang-en", "[[ইংরেজি ভাষা|ইং]]: ''{{{1}}}''", 20),
        SamplePage(3, 0, "গাঁও", "#পুনর্নির্দেশ [[গ্রাম]]", 30),
    ],
    "be-tarask": [SamplePage(2, 0, "Сяло", "#перанакіраваньне [[Вёска]]", 20)],
}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("other")
    for code, wiki in WIKIS.items():
        dbname, names = (
            wiki["database"],
            {int(key): name for key, name in wiki["namespaces"].items()},
        )
        header = dump_files.dump_header(dbname, wiki["language"], "Wikipedia", {0: "", **names})
        dump = folder / "dumps" / dbname / DATE / f"{dbname}-{DATE}-pages-articles.xml.bz2"
        dump.parent.mkdir(parents=True)
        pages = [SamplePage(1, 0, "A", wiki["article"], 10), *MORE_PAGES.get(code, [])]
        dump_files.write_xml(dump, header, pages)
    (folder / "dumps" / "commonswiki" / DATE).mkdir(parents=True)
    flags = ("--vocabulary-size", 0, "--workers", 1)
    command = ("wiki40b", "--languages", "all", "--dumps", folder / "dumps")
    assert run_cli(*command, "--output", folder / "corpora", *flags) == 0
    return folder / "corpora" / "wiki40b"


def test_one_corpus_of_each_wikipedia(built: Path) -> None:
    assert sorted(path.name for path in built.iterdir() if path.is_dir()) == sorted(WIKIS)


@pytest.mark.parametrize("code", WIKIS)
def test_texts_are_in_the_language_of_the_wiki(built: Path, code: str) -> None:
    build = Build(built / code / f"{DATE}-{VERSION}")
    (article,) = build.articles()
    assert article["text"].endswith(f"_START_PARAGRAPH_\n{WIKIS[code]['text']}")
    redirects = [page.page_id for page in MORE_PAGES.get(code, []) if page.namespace == 0]
    assert {one for one, why in build.reasons().items() if why == "redirect"} == set(redirects)


def test_manifest_and_card_say_where_tables_come_from(built: Path) -> None:
    for code in WIKIS:
        folder = built / code / f"{DATE}-{VERSION}"
        manifest, card = Build(folder).manifest, (folder / "README.md").read_text("utf-8")
        tables = manifest["settings"]["tables"]
        assert tables["language"] == WIKIS[code]["language"]
        assert f"\nlanguage: {tables['language'].partition('-')[0]}\n" in card
        if code == "simple":
            assert tables["proven"] == "made by people, for en"
            assert "not proven by people" not in card
            assert "babel" not in manifest["code"]
        else:
            assert tables["proven"] == "no"
            assert f"CLDR {cldr_version()}" in tables.values()
            assert "MediaWiki 1." in tables["read"]
            assert "The tables of this language were not proven by people" in card
            assert manifest["code"]["babel"]
