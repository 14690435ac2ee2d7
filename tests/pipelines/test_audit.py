"""`wiki40b --audit`: what it writes beside the corpus, and shows."""

import dataclasses
import json
from pathlib import Path

import pytest

from corpusmill.pipelines.sample_builds import sample_config, sample_entities
from corpusmill.pipelines.wiki40b_settings import VERSION
from corpusmill.transforms.wikipedia.audit_pages import FINDINGS, PAGE, SUMMARY, TEMPLATES
from tests.makers.wiki_builds import Build, build, entity_table, run_cli

SIZE = 8


@pytest.fixture(scope="module")
def audited(tmp_path_factory: pytest.TempPathFactory) -> Build:
    config = dataclasses.replace(sample_config("uk"), wiki_templates=False, audit=SIZE)
    return build(tmp_path_factory.mktemp("audited"), config)


def test_the_report_is_part_of_the_build(audited: Build) -> None:
    summary = json.loads((audited.folder / SUMMARY).read_text("utf-8"))
    assert summary["pages"] == {"drawn": SIZE, "audited": SIZE}
    rows = (audited.folder / FINDINGS).read_text("utf-8").splitlines()
    assert len(rows) == 1 + summary["holes"]["all"]["count"]
    assert all(row.split("\t")[1] in (audited.folder / PAGE).read_text("utf-8") for row in rows[1:])
    listed = {file["name"] for file in audited.manifest["outputs"]}
    assert listed >= {SUMMARY, FINDINGS, TEMPLATES, PAGE}
    assert audited.manifest["settings"]["audit"] == SIZE
    audited.check_files()


@pytest.mark.slow
def test_the_number_of_workers_makes_no_difference(audited: Build, tmp_path: Path) -> None:
    config = dataclasses.replace(sample_config("uk"), wiki_templates=False, audit=SIZE)
    other = build(tmp_path, config, workers=2)
    for name in (SUMMARY, FINDINGS, TEMPLATES, PAGE):
        assert (other.folder / name).read_bytes() == (audited.folder / name).read_bytes()


@pytest.mark.slow
def test_a_build_without_it_has_the_same_corpus(demo: Path, tmp_path: Path) -> None:
    config = sample_config("uk", entity_table(sample_entities()))
    built = build(tmp_path, dataclasses.replace(config, audit=SIZE))
    plain = Build(demo / "wiki40b" / "uk" / f"20260101-{VERSION}")
    assert built.articles() == plain.articles()
    assert not (plain.folder / "audit").exists()


def test_the_command_shows_it_in_80_columns(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    dump = sample_config("uk").dump
    inputs = ["--dump", *dump, "--output", tmp_path, "--no-wiki-templates"]
    build_it = ["wiki40b", "--language", "uk", *inputs, "--vocabulary-size", "0", "--workers", "1"]
    assert run_cli(*build_it, "--audit", SIZE) == 0
    shown = capsys.readouterr().out.partition("\naudit: ")[2]
    assert shown.startswith(f"{SIZE} of {SIZE} pages; ")
    assert "per 1,000 paragraphs" in shown
    assert all(len(line) <= 80 for line in shown.splitlines())


@pytest.mark.parametrize("size", [-1, 10_001])
def test_a_size_that_one_worker_cannot_hold_is_refused(size: int) -> None:
    with pytest.raises(ValueError, match="audit must be from 0 to"):
        dataclasses.replace(sample_config("uk"), audit=size)
