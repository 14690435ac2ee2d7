"""refresh.toml: what is wrong in it is told in one line that names file and key."""

import re
import zipfile
from pathlib import Path

import pytest
from apache_beam.io.filesystems import FileSystems
from apache_beam.options.pipeline_options import PipelineOptions, S3Options

from corpusmill.pipelines.refresh.config import FilesTable, Settings, load_config, recipe_of
from corpusmill.pipelines.refresh.sources import EntitiesSource, WikimediaSource
from corpusmill.transforms.wikitext.wikis import LANGUAGE_CODES, open_codes
from tests.makers.wiki_builds import run_cli
from tests.tools.case_tables import read_rows
from tests.tools.pack_samples import SAMPLES

EXAMPLE = SAMPLES / "refresh" / "refresh.toml"
HEAD = '[refresh]\noutput = "corpora"\ndownloads = "downloads"\ncontact = "me@example.org"\n'
BUCKET = "s3://bucket/corpora"
STORE = f'[refresh]\noutput = "{BUCKET}/"\ncontact = "me@example.org"\n'
NEWS = '[[corpus]]\nkind = "lm1b"\n'
PG19 = '[[corpus]]\nkind = "pg19"\n'
UK = '[[corpus]]\nkind = "wiki40b"\nlanguage = "uk"\n'


def write(folder: Path, text: str) -> Path:
    path = folder / "refresh.toml"
    path.write_text(text, "utf-8")
    return path


PARTS = {"<HEAD>": HEAD, "<STORE>": STORE, "<NEWS>": NEWS, "<PG19>": PG19, "<UK>": UK, "\\n": "\n"}
DEEP = ["a = " + "[" * 9_999, "maximum recursion depth exceeded"]


@pytest.mark.parametrize(("text", "complaint"), [*read_rows("pipelines/refused_refresh"), DEEP])
def test_what_is_wrong(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, complaint: str
) -> None:
    for name, part in PARTS.items():
        text = text.replace(name, part)
    path = write(tmp_path, text)
    assert run_cli("refresh", "--config", path, "--check") == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"corpusmill: error: {path}: ")
    assert complaint in line


@pytest.mark.parametrize("build", ["build = { near_duplicates = 0.5 }", "build = { seed = 1 }"])
def test_builds_that_differ_have_folders_of_their_own(tmp_path: Path, build: str) -> None:
    corpus = UK if "near" in build else '[[corpus]]\nkind = "flores101"\n'
    path = write(tmp_path, f'{HEAD}{corpus}{corpus}name = "x"\n{build}')
    assert run_cli("refresh", "--config", path, "--check") == 0


@pytest.mark.parametrize("how", [["--check"], ["--dry-run"], []])
def test_spark_without_java(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    how: list[str],
) -> None:
    jar = tmp_path / "server.jar"
    with zipfile.ZipFile(jar, "w") as archive:
        archive.writestr("org/apache/spark/SparkContext.class", b"")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    flags = f'beam_flags = ["--spark_job_server_jar", "{jar}"]\n'
    path = write(tmp_path, HEAD + 'runner = "SparkRunner"\n' + flags + UK)
    before = sorted(tmp_path.rglob("*"))
    assert run_cli("refresh", "--config", path, *how) == 2
    assert "[refresh]: runner: SparkRunner needs Java" in capsys.readouterr().err
    assert sorted(tmp_path.rglob("*")) == before


def test_stores_are_asked_with_the_flags_of_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path, HEAD + 'beam_flags = ["--s3_region_name", "here"]\n' + UK)
    told: list[object] = []
    monkeypatch.setattr(FileSystems, "set_options", told.append)
    assert run_cli("refresh", "--config", path, "--check") == 0
    assert isinstance(told[-1], PipelineOptions)
    assert told[-1].view_as(S3Options).s3_region_name == "here"


def test_a_date_in_the_future(tmp_path: Path) -> None:
    settings = load_config(str(write(tmp_path, HEAD + UK))).refresh
    files = {"input": ("https://example.org/x",)}
    for date in ("20991231", "2099-12-31"):
        with pytest.raises(ValueError, match=f"`date` must not be in the future, got '{date}'"):
            FilesTable(date=date, files=files).sources(settings)
    assert FilesTable(date="2026-11-01", files=files).sources(settings)[0].date == "20261101"


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"none\.toml: No such file or directory"):
        load_config(str(tmp_path / "none.toml"))


def test_paths_are_relative_to_the_file(tmp_path: Path) -> None:
    settings = load_config(str(write(tmp_path, HEAD + UK))).refresh
    assert (settings.output, settings.downloads) == (f"{tmp_path}/corpora", f"{tmp_path}/downloads")
    assert settings.state == f"{tmp_path}/downloads/.refresh"
    assert settings.metrics == f"{tmp_path}/downloads/.refresh/metrics.prom"
    stored = write(tmp_path, HEAD.replace('"corpora"', '"gs://bucket/corpora"') + UK)
    assert load_config(str(stored)).refresh.output == "gs://bucket/corpora"
    of_store = load_config(str(write(tmp_path, STORE + UK))).refresh
    assert (of_store.output, of_store.downloads) == (BUCKET, f"{BUCKET}/.downloads")
    assert of_store.metrics == f"{BUCKET}/.downloads/.refresh/metrics.prom"


def test_languages(tmp_path: Path) -> None:
    of_two = '[[corpus]]\nkind = "wiki40b"\nlanguages = ["uk", "el"]\n'
    config = load_config(str(write(tmp_path, HEAD + of_two + 'name = "wiki"\n' + of_two)))
    labels = [table.label for table in config.corpus]
    assert labels == ["wiki-uk", "wiki-el", "wiki40b-uk", "wiki40b-el"]
    paper = load_config(str(write(tmp_path, HEAD + of_two.replace('"uk", "el"', '"paper"'))))
    assert len(paper.corpus) == len(LANGUAGE_CODES)
    every = load_config(str(write(tmp_path, HEAD + of_two.replace('"uk", "el"', '"all"'))))
    assert len(every.corpus) == len(open_codes())
    aliases = load_config(str(write(tmp_path, HEAD + of_two.replace('"el"', '"yue", "zh-yue"'))))
    assert [table.label for table in aliases.corpus] == ["wiki40b-uk", "wiki40b-zh-yue"]


def test_the_example_is_right_and_shows_the_defaults(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_cli("refresh", "--config", EXAMPLE, "--check") == 0
    assert run_cli("refresh", "--example") == 0
    text = EXAMPLE.read_text("utf-8")
    assert capsys.readouterr().out.endswith(text)
    shown = re.findall(r"^# (\w+) = ", text, re.MULTILINE)
    assert {"output", "downloads", "contact", *shown} >= set(Settings.__struct_fields__)


def test_the_defaults_of_the_example(tmp_path: Path) -> None:
    text = re.sub(
        r"^# (\w+ = )",
        r"\1",
        EXAMPLE.read_text("utf-8").partition("[[corpus]]")[0],
        flags=re.MULTILINE,
    )
    text = re.sub(r"^beam_flags = .*", "", text, flags=re.MULTILINE)
    every_key = load_config(str(write(tmp_path, text + UK))).refresh
    assert every_key == load_config(str(EXAMPLE)).refresh


def test_what_corpora_are_made_of() -> None:
    config = load_config(str(EXAMPLE))
    recipes = {table.label: recipe_of(table, config.refresh) for table in config.corpus}
    assert recipes["entities"].sources == (EntitiesSource(),)
    assert recipes["wiki40b-uk"].sources == (WikimediaSource("ukwiki", ("dump", "page_props")),)
    assert {name: recipe.edition_folder for name, recipe in recipes.items()} == {
        "entities": "entities/wikidata",
        "wiki40b-uk": "wiki40b/uk",
        "wiki40b-el": "wiki40b/el",
        "lm1b-en": "lm1b/en",
        "pg19": "",
        "simplebooks": "simplebooks/en",
        "flores101": "",
    }
    assert recipes["flores101"].table.setting_of("enwikibooks", "dump") == "wikibooks"
    assert recipes["pg19"].table.setting_of("gutenberg", "catalog") == "catalog"
