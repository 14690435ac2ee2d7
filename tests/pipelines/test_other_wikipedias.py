"""Wikipedias whose tables nobody made, in one run over a folder that also has wikis of other kinds."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from corpusmill.pipelines.wiki40b_settings import VERSION
from corpusmill.transforms.wikitext.wikis import cldr_version
from tests.makers import dump_files
from tests.makers.dump_files import SamplePage
from tests.makers.wiki_builds import DATE, Build, run_cli

pytestmark = pytest.mark.slow

# Code → database, language of the head, names of namespaces, an article, and what a reader sees of it
WIKIS: Mapping[str, tuple[str, str, dict[int, str], str, str]] = {
    "simple": (
        "simplewiki",
        "en",
        {6: "File", 10: "Template", 14: "Category"},
        "{{lang-de|Dorf}}: {{circa|1850}}. [[Category:Villages]]",
        "German: Dorf: c. 1850.",
    ),
    "be-tarask": (
        "be_x_oldwiki",
        "be-tarask",
        {6: "Файл", 10: "Шаблён", 14: "Катэгорыя"},
        "[[Выява:A.jpg|thumb|Мост]] {{lang-de|Dorf}}: {{formatnum:12345.5}} і {{circa|1850}}."
        " [[Катэгорыя:Вёскі]] {{нататка}}",
        "нямецкая: Dorf: 12 345,5 і 1850.",
    ),
    "bn": (
        "bnwiki",
        "bn",
        {6: "চিত্র", 10: "টেমপ্লেট", 14: "বিষয়শ্রেণী"},
        "[[চিত্র:A.jpg|thumb|সেতু]] {{lang-en|Village}}: {{formatnum:1234567}} জন। [[বিষয়শ্রেণী:গ্রাম]]",
        "ইং: Village: ১২,৩৪,৫৬৭ জন।",
    ),
    "zh-yue": (
        "zh_yuewiki",
        "yue",
        {6: "檔案", 10: "模", 14: "類"},
        "[[文件:A.jpg|thumb|橋]]{{lang-de|Dorf}}：{{convert|12|km|mi}}，{{lang-qqq|Salico}}。[[分類:村]]",
        "德文: Dorf：12 公里 (7.5 英里)，Salico。",
    ),
}
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
    for code, (dbname, language, names, text, _) in WIKIS.items():
        header = dump_files.dump_header(dbname, language, "Wikipedia", {0: "", **names})
        dump = folder / "dumps" / dbname / DATE / f"{dbname}-{DATE}-pages-articles.xml.bz2"
        dump.parent.mkdir(parents=True)
        pages = [SamplePage(1, 0, "A", text, 10), *MORE_PAGES.get(code, [])]
        dump_files.write_xml(dump, header, pages)
    (folder / "dumps" / "commonswiki" / DATE).mkdir(parents=True)
    flags = ("--vocabulary-size", 0, "--no-multilingual", "--workers", 1)
    command = ("wiki40b", "--languages", "all", "--dumps", folder / "dumps")
    assert run_cli(*command, "--output", folder / "corpora", *flags) == 0
    return folder / "corpora" / "wiki40b"


def test_one_corpus_of_each_wikipedia(built: Path) -> None:
    assert sorted(path.name for path in built.iterdir() if path.is_dir()) == sorted(WIKIS)


@pytest.mark.parametrize("code", WIKIS)
def test_texts_are_in_the_language_of_the_wiki(built: Path, code: str) -> None:
    build = Build(built / code / f"{DATE}-{VERSION}")
    (article,) = build.articles()
    assert article["text"].endswith(f"_START_PARAGRAPH_\n{WIKIS[code][-1]}")
    redirects = [page.page_id for page in MORE_PAGES.get(code, []) if page.namespace == 0]
    assert {one for one, why in build.reasons().items() if why == "redirect"} == set(redirects)


def test_manifest_and_card_say_where_tables_come_from(built: Path) -> None:
    for code in WIKIS:
        folder = built / code / f"{DATE}-{VERSION}"
        manifest, card = Build(folder).manifest, (folder / "README.md").read_text("utf-8")
        tables = manifest["settings"]["tables"]
        assert tables["language"] == WIKIS[code][1]
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
