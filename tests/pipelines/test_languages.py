"""Many languages in one run, from a folder laid out like the dump server's."""

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import sentencepiece

from corpusmill.pipelines.wiki40b_settings import VERSION
from corpusmill.transforms.files.text import split_of
from corpusmill.transforms.wikitext.article_markers import MARKERS_WITH_LINE_FEEDS as MARKERS
from tests.makers import dump_files
from tests.makers.dump_files import SamplePage
from tests.makers.wiki_builds import (
    DATE,
    ENTITIES,
    Build,
    Command,
    WikiFiles,
    files_below,
    run_cli,
    sample_wiki,
)
from tests.tools.case_tables import read_cases
from tests.tools.pack_samples import Wiki

LANGUAGES = ("uk", "en")
NAMESPACES = {0: "", 6: "File", 10: "Template", 14: "Category"}


def wiki_of(language: str) -> Wiki:
    """A bundled wiki, or the pages of the English one as another's."""
    if language in LANGUAGES:
        return sample_wiki(language)
    dbname = f"{language.partition('-')[0]}wiki"
    header = dump_files.dump_header(dbname, language.partition("-")[0], "Wikipedia", NAMESPACES)
    return sample_wiki("en")._replace(dbname=dbname, language=language, header=header)


def lay_out(dumps: Path, language: str) -> WikiFiles:
    wiki = wiki_of(language)
    folder = dumps / wiki.dbname / DATE
    folder.mkdir(parents=True)
    files = WikiFiles(folder, wiki)
    files.write_multistream()
    files.write_page_props()
    return files


@pytest.fixture(scope="module")
def dumps(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dumps")
    for language in LANGUAGES:
        lay_out(folder, language)
    return folder


def arguments(
    dumps: Path,
    output: Path,
    *flags: object,
    languages: str = ",".join(LANGUAGES),
    entities: object = ENTITIES,
) -> list[object]:
    given = ("wiki40b", "--languages", languages, "--dumps", dumps, "--output", output)
    return [*given, "--entities", entities, "--workers", 1, *flags]


def corpus(output: Path, language: str) -> Path:
    return output / "wiki40b" / language / f"{DATE}-{VERSION}"


@pytest.fixture(scope="module")
def built(dumps: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All four, by one worker."""
    output = tmp_path_factory.mktemp("built")
    assert run_cli(*arguments(dumps, output)) == 0
    return output


@pytest.fixture(scope="module")
def table(built: Path) -> Path:
    """The folder of the entity table."""
    (folder,) = built.glob("entities/wikidata/*-*")
    return folder


def times_below(folder: Path) -> dict[str, int]:
    return {name: (folder / name).stat().st_mtime_ns for name in files_below(folder)}


@pytest.fixture
def half_of_uk(dumps: Path) -> Iterator[tuple[Path, bytes]]:
    """The Ukrainian dump, cut in the middle until the test is over, and what it was before."""
    path = dumps / "ukwiki" / DATE / f"ukwiki-{DATE}-pages-articles-multistream.xml.bz2"
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    yield path, whole
    path.write_bytes(whole)


def trees_below(output: Path) -> dict[str, bytes]:
    return {name: (output / name).read_bytes() for name in files_below(output)}


@pytest.mark.slow
def test_one_that_fails_does_not_lose_the_others_by_two_workers_either(
    dumps: Path,
    built: Path,
    half_of_uk: tuple[Path, bytes],
    tmp_path: Path,
    run: Command,
) -> None:
    damaged, whole = half_of_uk
    others = [language for language in LANGUAGES if language != "uk"]
    shown, errors = run(*arguments(dumps, tmp_path, "--workers", 2), status=1)
    assert f"uk 20260101 failed {damaged}, byte " in " ".join(shown.split())
    assert shown.endswith("\n1 built, 1 failed\n")
    assert "all is well" not in shown
    said = "corpusmill: error: 1 of 2 builds failed: uk 20260101; "
    assert errors.splitlines()[-1].startswith(said)
    assert all(Build(corpus(tmp_path, language)) for language in others)  # those after it, too
    assert not corpus(tmp_path, "uk").exists()
    before = {language: times_below(corpus(tmp_path, language)) for language in others}

    damaged.write_bytes(whole)
    shown = run(*arguments(dumps, tmp_path)).out
    assert "1 built, 1 already there" in shown
    assert {language: times_below(corpus(tmp_path, language)) for language in others} == before
    tree = trees_below(tmp_path)
    assert tree == trees_below(built)
    assert sum(name.endswith(".model") for name in tree) == len(LANGUAGES)


@pytest.mark.slow
def test_a_second_run_builds_nothing_and_compares_all_languages(
    dumps: Path, built: Path, run: Command
) -> None:
    before = times_below(built / "wiki40b") | times_below(built / "entities")
    shown = run(*arguments(dumps, built)).out
    assert "2 already there\n" in shown
    folders = " ".join(str(corpus(built, language)) for language in LANGUAGES)
    command = f"corpusmill subwords --articles 10000 --size 64000 --corpora {folders}"
    assert f"{command} --output {built}\n" in shown
    assert times_below(built / "wiki40b") | times_below(built / "entities") == before

    table = shown[shown.index("as Table 2 of the paper") : shown.index("entities in two splits")]
    rows = [line.split() for line in table.splitlines()]
    builds = {language: Build(corpus(built, language)) for language in LANGUAGES}
    for language, build in builds.items():
        (row,) = (row for row in rows if row[:1] == [language])
        total = build.stats["total"]
        assert row[1:4] == [DATE, f"{total['articles']}", f"{total['sections']}"]
    (total_row,) = (row for row in rows if row[:1] == ["Total"])
    assert total_row[1] == str(sum(one.stats["total"]["articles"] for one in builds.values()))

    assert "entities in two splits: none" in shown
    ids = {one["wikidata_id"] for build in builds.values() for one in build.articles()}
    assert f"entities: {len(ids)}, of which " in shown


@pytest.mark.slow
def test_finished_builds_of_other_settings_are_not_replaced_by_surprise(
    dumps: Path, built: Path, run: Command
) -> None:
    before = times_below(built / "wiki40b")
    shown = run(*arguments(dumps, built, "--shard-bytes", 1000, languages="uk"), status=1).out
    assert times_below(built / "wiki40b") == before
    message = "with other settings (shard_bytes: 33554432 → 1000); use --replace to build it again"
    assert message in shown


@pytest.mark.slow
def test_every_marker_is_one_piece_in_every_vocabulary(built: Path) -> None:
    models = sorted(built.rglob("*.model"))
    assert len(models) == len(LANGUAGES)
    for path in models:
        processor = sentencepiece.SentencePieceProcessor(model_file=str(path))
        assert [len(processor.encode(marker)) for marker in MARKERS] == [1, 1, 1, 1], path
        assert processor.encode("".join(MARKERS), out_type=str) == list(MARKERS)


@pytest.mark.slow
def test_what_is_missing_is_listed(dumps: Path, built: Path, run: Command) -> None:
    shown = run(*arguments(dumps, built, languages="uk,el"), status=1).out
    assert re.search(r"\n  el +missing +no folder elwiki", shown)
    shown = run(*arguments(dumps, built, languages="paper")).out
    assert "2 already there, 39 missing" in shown
    assert len([line for line in shown.splitlines() if "missing  " in line]) == 39


@pytest.mark.slow
def test_zhwiki_gives_two_corpora(tmp_path: Path, table: Path, run: Command) -> None:
    pytest.importorskip("zhconv_rs")
    dumps, output = tmp_path / "dumps", tmp_path / "output"
    files = lay_out(dumps, "zh-cn")
    pages = [SamplePage(1, 0, "汉语", "'''汉语'''是一种语言，在台灣叫做國語。", 10)]
    dump_files.write_multistream(files.multistream, files.index, files.wiki.header, pages, 10)
    props = files.stem("page_props.sql.gz")
    dump_files.write_page_props(props, [(1, "wikibase_item", "Q7850")], "zhwiki")
    run(*arguments(dumps, output, languages="zh-cn,zh-tw", entities=table))
    texts = {}
    for language in ("zh-cn", "zh-tw"):
        (article,) = Build(corpus(output, language)).articles()
        assert article["wikidata_id"] == "Q7850"
        texts[language] = article["text"]
    assert "汉语是一种语言，在台湾叫做国语。" in texts["zh-cn"]
    assert "漢語是一種語言，在台灣叫做國語。" in texts["zh-tw"]


@pytest.mark.slow
def test_pins_of_an_earlier_release_keep_entities_where_they_were(
    dumps: Path, built: Path, table: Path, tmp_path: Path, run: Command
) -> None:
    """An entity that is pinned stays in its split in every language, whatever its hash."""

    def items(language: str) -> set[str]:
        return {one["wikidata_id"] for one in Build(corpus(built, language)).articles()}

    pins = tmp_path / "pins.tsv"
    shared = sorted(items("en") & items("uk"))[:3]
    moved = {qid: "test" if split_of(qid) == "train" else "train" for qid in shared}
    lines = ["wikidata_id\tsplit", *(f"{qid}\t{split}" for qid, split in moved.items())]
    pins.write_text("\n".join([*lines, "Q999999999\ttest"]) + "\n", "utf-8")
    flags = ("--pin-splits", pins)
    run(*arguments(dumps, tmp_path / "output", *flags, entities=table))
    for language in LANGUAGES:
        build = Build(corpus(tmp_path / "output", language))
        for qid, split in moved.items():
            assert qid in {article["wikidata_id"] for article in build.articles(split)}
        counts = build.manifest["counts"]
        assert (counts["pinned"], counts["pinned_elsewhere"]) == (3, 3)


@pytest.mark.slow
def test_a_refresh_pinned_by_the_release_before(
    dumps: Path, built: Path, table: Path, tmp_path: Path, run: Command
) -> None:
    """All articles of the folder of an earlier build are pinned; none moves."""
    flags = ("--pin-splits", corpus(built, "uk"))
    run(*arguments(dumps, tmp_path, *flags, languages="uk", entities=table))
    before, after = (Build(corpus(output, "uk")) for output in (built, tmp_path))
    assert after.articles() == before.articles()
    counts = after.manifest["counts"]
    assert (counts["pinned"], counts["pinned_elsewhere"]) == (len(after.articles()), 0)


@pytest.mark.parametrize(("flags", "message"), read_cases("pipelines/languages", "wrong_settings"))
def test_wrong_settings(tmp_path: Path, run: Command, flags: list[str], message: str) -> None:
    assert message in run("wiki40b", "--output", tmp_path / "output", *flags, status=2).err
    assert not (tmp_path / "output").exists()


QUICK = ("--vocabulary-size", 0, "--no-wiki-templates", "--on-corrupt")


def lay_out_export(dumps: Path, second: str, sums: str = "") -> None:
    """The sample of uk as a Content File Export of two files; `second` are the pages of the other one."""
    folder = dumps / "other/mediawiki_content_current/ukwiki/2026-01-01/xml/bzip2"
    folder.mkdir(parents=True)
    wiki, listed = wiki_of("uk"), []
    for pages, part in (("p1p10", wiki.pages[:9]), (second, wiki.pages[9:])):
        path = folder / f"ukwiki-2026-01-01-{pages}.xml.bz2"
        dump_files.write_xml(path, wiki.header, part)
        listed.append(f"{sums or hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n")
    (folder / "SHA256SUMS").write_text("".join(listed))


@pytest.mark.slow
def test_an_export_with_a_gap_is_an_error_or_a_caveat(
    tmp_path: Path, table: Path, run: Command
) -> None:
    lay_out_export(tmp_path, "p20000p30000")
    gap = "no file holds the pages 11 to 19,999"
    flags = arguments(tmp_path, tmp_path / "output", *QUICK, languages="uk", entities=table)
    assert f"{DATE}: {gap}" in run(*flags, "fail", status=1).err
    run(*flags, "keep-good")
    build = Build(corpus(tmp_path / "output", "uk-no-wiki-templates"))
    assert build.manifest["counts"]["pages_read"] == len(wiki_of("uk").pages)
    assert f"In the export, {gap}." in build.manifest["caveats"]


@pytest.mark.slow
def test_a_file_that_is_not_what_its_list_says(tmp_path: Path, table: Path, run: Command) -> None:
    lay_out_export(tmp_path, "p11p30000", "0" * 64)

    def build(on_corrupt: str, status: int) -> str:
        output = tmp_path / on_corrupt
        flags = arguments(tmp_path, output, *QUICK, on_corrupt, languages="uk", entities=table)
        return run(*flags, status=status).out

    assert f"SHA256SUMS beside it lists {'0' * 64}" in build("fail", 1)
    build("keep-good", 0)
