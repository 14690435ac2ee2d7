"""The templates of a wiki in a build: its own pages, the items of Wikidata, and the user's tables."""

import dataclasses
from pathlib import Path

import pytest

from corpusmill.pipelines.sample_builds import sample_config, sample_entities
from corpusmill.pipelines.wiki40b_settings import VERSION
from tests.makers.wiki_builds import Build, build, entity_table, run_cli

NAMES = "unrendered-templates.tsv"
BY_TITLE = "Вербовий Брід"


def geography(built: Build) -> str:
    """A paragraph that uses a redirect, a definition, a linked template, and an unknown one."""
    texts = [article["text"] for article in built.articles()]
    (text,) = [text for text in texts if f"\n{BY_TITLE}\n" in text]
    return text.split("Географія\n_START_PARAGRAPH_\n")[1].split("\n")[0]


def test_templates_show_by_the_dump_and_by_wikidata(demo: Path) -> None:
    built = Build(demo / "wiki40b" / "uk" / f"20260101-{VERSION}")
    text = geography(built)
    assert (
        "пагорб 38 м заввишки, з хрестом на вершині; навпростець до нього 2 кілометри (1,2 миль)."
        in text
    )
    assert "11 км путівцем (поганий), тож" in text
    listed = (built.folder / NAMES).read_text(encoding="utf-8")
    assert listed.splitlines()[1:] == [f"1\t1\tстан путівця\ta guess\t{BY_TITLE}"]


def test_without_them_they_are_guessed_and_listed(tmp_path: Path) -> None:
    config = dataclasses.replace(sample_config("uk"), wiki_templates=False)
    built = build(tmp_path, config)
    assert "стоїть пагорб; навпростець до нього 2 km. До залізничної" in geography(built)
    names = (built.folder / NAMES).read_text(encoding="utf-8").splitlines()
    assert [name.split("\t")[2] for name in names[1:]] == ["зввш", "перерахунок", "стан путівця"]


def test_tables_of_the_user_come_first(tmp_path: Path) -> None:
    table = tmp_path / "мої.toml"
    table.write_text(
        '[templates]\n"Стан путівця" = "стан: {1}"\n"Зввш" = "{1} метрів"\n', encoding="utf-8"
    )
    config = dataclasses.replace(
        sample_config("uk", entity_table(sample_entities())), templates=[str(table)]
    )
    built = build(tmp_path / "output", config)
    text = geography(built)
    assert "стоїть пагорб 38 метрів; навпростець" in text
    assert "11 км путівцем (стан: поганий), тож" in text
    assert (built.folder / NAMES).read_text(encoding="utf-8").count("\n") == 1
    (listed,) = [file for file in built.manifest["inputs"] if file["role"] == "templates"]
    assert listed["name"] == table.name


def test_a_table_that_cannot_be_read_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = tmp_path / "broken.toml"
    table.write_text('[templates]\n"A" = "{1"\n', encoding="utf-8")
    (dump,) = sample_config("uk").dump
    flags = ("--language", "uk", "--dump", dump, "--output", tmp_path / "output")
    assert run_cli("wiki40b", *flags, "--templates", table) == 1
    message = capsys.readouterr().err
    assert str(table) in message
    assert "unbalanced brackets or braces in display pattern '{1'" in message
    assert not (tmp_path / "output").exists()
