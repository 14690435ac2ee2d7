"""Builds that learn from their dump which sections hold no prose."""

import dataclasses
from pathlib import Path
from typing import Any

import pytest

from corpusmill.pipelines.wiki40b_settings import Wiki40bConfig
from tests.makers import dump_files
from tests.makers.dump_files import SamplePage
from tests.makers.wiki_builds import Build, build, run_cli

NAMES = "learned-headings.tsv"
LEARNED = "learned from the dump"
UNPROVEN = "rue"
PROSE = "Хата стояла край довгої дороги, якою вже багато років ніхто не ходив. " * 9
LEFTOVER = "Хату показують на цій сторінці."
# Headings that are in no table; the last page has a sentence where the others have links alone.
TEXT = f"{PROSE}\n== Дорога ==\n{PROSE}\n== Де ще шукати ==\n* [[Хата]]\n== Звідки це ==\n<references/>\n"
PAGES = [SamplePage(n, 0, f"Хата {'і ще ' * n}", TEXT, n) for n in range(1, 25)]
PAGES.append(SamplePage(25, 0, "Дім", TEXT.replace("* [[Хата]]", LEFTOVER), 25))


def config(folder: Path, pages: list[SamplePage] = PAGES, **settings: Any) -> Wiki40bConfig:
    """A dump of two files."""
    given = {"language": UNPROVEN, "vocabulary_size": 0} | settings
    language = given["language"]
    header = dump_files.dump_header(f"{language}wiki", language, "Wikipedia", {0: ""})
    folder.mkdir()
    dumps = [folder / f"{language}wiki-20260101-pages-articles{n}.xml" for n in (1, 2)]
    for dump, part in zip(dumps, (pages[:10], pages[10:]), strict=True):
        dump_files.write_xml(dump, header, part)
    return Wiki40bConfig(dump=[str(dump) for dump in dumps], **given)


def text_of(built: Build) -> str:
    """The texts of all articles."""
    return "".join(article["text"] for article in built.articles())


@pytest.mark.slow
def test_sections_under_learned_headings_are_dropped(tmp_path: Path) -> None:
    built = build(tmp_path / "output", config(tmp_path / "dumps"))
    assert LEFTOVER not in text_of(built)
    assert text_of(built).count("Дорога") == len(PAGES)
    _, *rows = (built.folder / NAMES).read_text("utf-8").splitlines()
    assert [row.split("\t")[:3] for row in rows] == [
        ["де ще шукати", "at every level", "25"],
        ["звідки це", "at every level", "25"],
    ]
    assert {"min_sections", "min_closing"} <= built.manifest["settings"]["learned_headings"].keys()
    assert built.manifest["settings"]["tables"]["headings"] == LEARNED
    (caveat,) = [one for one in built.manifest["caveats"] if NAMES in one]
    assert caveat in (built.folder / "README.md").read_text("utf-8")
    built.check_files()


def test_headings_are_learned_beside_borrowed_tables(tmp_path: Path) -> None:
    text = TEXT.replace("Де ще шукати", "Other websites").replace("Звідки це", "References")
    pages = [page._replace(wikitext=text) for page in PAGES]
    built = build(tmp_path / "output", config(tmp_path / "dumps", pages, language="simple"))
    _, *rows = (built.folder / NAMES).read_text("utf-8").splitlines()
    assert [row.split("\t")[0] for row in rows] == ["other websites", "references"]
    tables = {"language": "en", "proven": "made by people, for en", "headings": LEARNED}
    assert built.manifest["settings"]["tables"] == tables
    assert "beside those that people listed for en;" in (built.folder / "README.md").read_text()


@pytest.mark.parametrize(
    ("language", "setting", "learns"),
    [
        ("uk", "auto", False),
        ("simple", "auto", True),
        ("simple", "off", False),
    ],
)
def test_who_learns(tmp_path: Path, language: str, setting: str, learns: bool) -> None:
    made = config(tmp_path / "dumps", language=language, learn_headings=setting)
    assert made.learns_headings() is learns


@pytest.mark.slow
@pytest.mark.parametrize(
    ("language", "setting", "learns"), [("uk", "on", True), (UNPROVEN, "off", False)]
)
def test_builds_learn_as_they_are_told(
    tmp_path: Path, language: str, setting: str, learns: bool
) -> None:
    settings = {"language": language, "learn_headings": setting}
    built = build(tmp_path / "output", config(tmp_path / "dumps", **settings))
    assert (LEFTOVER in text_of(built)) is not learns
    assert (built.folder / NAMES).exists() is learns
    assert ("learned_headings" in built.manifest["settings"]) is learns


@pytest.mark.slow
def test_the_same_bytes_by_two_workers_from_pages_and_files_in_another_order(
    tmp_path: Path,
) -> None:
    reference = build(tmp_path / "one", config(tmp_path / "dumps"))
    turned = config(tmp_path / "turned", PAGES[::-1])
    reverse = dataclasses.replace(turned, dump=turned.dump[::-1])
    built = build(tmp_path / "two", reverse, workers=2)
    assert built.tree_but_inputs() == reference.tree_but_inputs()


def test_headings_are_learned_in_the_reading_of_templates(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    flags = ("--language", UNPROVEN, "--dump", "x.xml", "--output", tmp_path)
    assert run_cli("wiki40b", *flags, "--no-wiki-templates", "--learn-headings", "on") == 2
    assert "needs wiki_templates=True" in capsys.readouterr().err
