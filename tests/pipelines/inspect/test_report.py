import io
import json
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from corpusmill.pipelines.cli import make_parser
from corpusmill.pipelines.inspect import inspect_commands as command
from corpusmill.pipelines.inspect.build_sizes import Found, find_sizes
from corpusmill.pipelines.inspect.report import (
    RENDERERS,
    render_json,
    render_markdown,
    render_text,
    render_tsv,
)
from corpusmill.transforms.files.builds.paper_figures import NO_SCORES, OTHER_TEXT
from corpusmill.transforms.files.terminal import draw
from tests.makers.fake_builds import WITH_PIECES, sizes, write_build
from tests.makers.finished_builds import manifest_of, seal
from tests.tools.golden_tree import GOLDEN


@pytest.fixture
def two(tmp_path: Path) -> Found:
    write_build(tmp_path, "uk", stats=WITH_PIECES)
    write_build(tmp_path, "el")
    return find_sizes([str(tmp_path)])


NOTE = (
    "characters per piece and coverage (the share of characters that have a piece of their own) are"
    " measured on validation and test; a marker counts as one character (before 1.4.0 without its line"
    " feeds); the paper used its own vocabularies; its bits per character are those of models with 32k"
    " pieces on test, on the text of the published corpus"
)
DIFFERS = "input of 20260101, --lists sentences"


def test_markdown(two: Found) -> None:
    assert render_markdown(two) == (
        "| edition | dump | articles | sections | pieces train | pieces validation | pieces test"
        " | characters train | characters validation | characters test | characters/ piece | coverage"
        " | paper: articles | paper: characters/ piece | paper: bits/ character"
        " | what differs |\n"
        "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"
        " ---: | ---: |\n"
        "| el | 20260101 | 100 | 200 | – | – | – | 9,000 | 500 | 400 | – | – | 107,317 | 4.331 | –"
        f" | {DIFFERS} |\n"
        "| uk | 20260101 | 1,000 | 2,000 | 3,000,000 | 150,000 | 50,000 | 9,000,000 | 500,000 | 300,000"
        f" | 4.000 | 99.90% | 562,612 | 4.029 | – | {DIFFERS} |\n"
        "| Total |  | 1,100 | 2,200 | – | – | – | 9,009,000 | 500,500 | 300,400 | – | – | 669,929"
        " | 4.100 | – | – |\n"
        f"\n- {NOTE}\n- {NO_SCORES}\n"
    )


def test_tsv(two: Found) -> None:
    head, *rows = [line.split("\t") for line in render_tsv(two).splitlines()]
    assert (
        head
        == (
            "language dump_date version articles sections train_pieces validation_pieces test_pieces"
            " train_characters validation_characters test_characters characters_per_piece coverage"
            " paper_articles paper_characters_per_piece paper_bits_per_character edition differs"
        ).split()
    )
    assert ["|".join(row) for row in rows] == [
        f"el|20260101|1.2.0|100|200||||9000|500|400|||107317|4.331||el|{DIFFERS}",
        "uk|20260101|1.2.0|1000|2000|3000000|150000|50000|9000000|500000|300000|4.0000|0.999000|562612"
        f"|4.029||uk|{DIFFERS}",
        "Total|||1100|2200||||9009000|500500|300400|||669929|4.100||Total|",
    ]


def test_json(two: Found) -> None:
    value = json.loads(render_json(two))
    assert [row["language"] for row in value["rows"]] == ["el", "uk"]
    assert value["rows"][1]["pieces"] == {"train": 3000000, "validation": 150000, "test": 50000}
    assert value["rows"][0]["coverage"] is None
    assert value["total"]["articles"] == 1100
    assert value["unfinished"] == []


def test_text(two: Found) -> None:
    lines = render_text(two).splitlines()
    assert lines[0] == "Wiki-40B, as Table 2 of the paper"
    cells = [line.split() for line in lines]
    assert f"el 20260101 100 200 – – – 9,000 500 400 – – 107,317 4.331 – {DIFFERS}".split() in cells
    assert (
        "uk 20260101 1,000 2,000 3,000,000 150,000 50,000 9,000,000 500,000 300,000 4.000 99.90%"
        f" 562,612 4.029 – {DIFFERS}"
    ).split() in cells
    total = "Total 1,100 2,200 – – – 9,009,000 500,500 300,400 – – 669,929 4.100 – –"
    assert total.split() in cells
    assert lines[-2:] == [f"note: {NOTE}", f"note: {NO_SCORES}"]
    assert "…" not in render_text(two)


def test_large_counts_are_shown_in_millions(tmp_path: Path) -> None:
    stats: dict[str, Any] = {
        "train": sizes(1, 828_600_000, 205_600_000),
        "validation": sizes(1, 45_625_835, 11_334_897),
        "test": sizes(1, 46_442_543, 11_514_315),
    }
    write_build(tmp_path, "uk", stats=stats)
    found = find_sizes([str(tmp_path)])
    row = render_markdown(found).splitlines()[2]
    # what the paper prints of its own Ukrainian
    assert " | 205.6 | 11.3 | 11.5 | 828.6 | 45.6 | 46.4 | 4.029 | " in row
    assert " | pieces (M) train | " in render_markdown(found)
    assert "45625835" in render_tsv(found)


def test_text_is_the_same_whatever_the_terminal(
    two: Found, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = render_text(two)
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert render_text(two) == plain
    assert Console(file=io.StringIO()).width == 40


@pytest.mark.parametrize("width", [60, 80, 90, 120])
def test_a_narrow_terminal_has_more_tables_and_no_cut_number(two: Found, width: int) -> None:
    tables = render_text(two, width).partition("note: ")[0].splitlines()
    assert max(map(len, tables)) <= width
    whole = {cell for line in render_text(two).splitlines() for cell in line.split()}
    split = {cell for line in tables for cell in line.split()} | {
        *f"note: {NOTE} {NO_SCORES} 20260101,".split()
    }
    assert {cell for cell in whole ^ split if cell.strip("─")} == set()
    assert sum("uk" in line.split() for line in tables) > 1


@pytest.mark.parametrize("width", [60, 80])
def test_a_long_name_is_put_on_several_lines(width: int) -> None:
    edition = "en-heldout-books-2-small-tokens-5000-and-more"
    table = draw(
        ["corpus", "edition", "score"],
        [["simplebooks", edition, "9.30 perplexity"]],
        width=width,
        key=2,
    )
    assert max(map(len, table.splitlines())) <= width
    assert "9.30 perplexity" in table


# The command.


def run_command(*arguments: str) -> None:
    settings = make_parser().parse_args(["report", *arguments])
    settings.run(settings, [])


def test_the_command_prints_every_format(
    two: Found, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert tuple(RENDERERS) == command.FORMATS
    for form, render in RENDERERS.items():
        run_command(str(tmp_path), "--format", form)
        assert capsys.readouterr().out == render(two)
    run_command(str(tmp_path / "wiki40b" / "el"), str(tmp_path / "wiki40b" / "uk"))
    assert capsys.readouterr().out == render_text(two)


def test_builds_of_other_corpora(tmp_path: Path, two: Found) -> None:
    [sample] = (GOLDEN / "lm1b").glob("en-*/*/stats.json")
    news = write_build(tmp_path, "en", corpus="lm1b")
    (news / "stats.json").write_bytes(sample.read_bytes())
    kept = {"train": 1204, "test": 118, "total": 1322}
    seal(news, manifest_of(news) | {"counts": {"kept": kept}})
    both, other = find_sizes([str(tmp_path)]), find_sizes([str(news)])
    assert render_tsv(both) == render_tsv(two)
    table = [
        "corpus edition dump_date version unit split kept paper words paper_words paper_score"
        " why_no_paper differs",
        "lm1b en 20260101 1.2.0 sentences train 1204 30301028 31367    input of 20260101",
        "lm1b en 20260101 1.2.0 sentences test 118 306688 3027    input of 20260101",
        "lm1b en 20260101 1.2.0 sentences paper_test   548 159658   input of 20260101",
    ]
    assert [line.replace("\t", " ") for line in render_tsv(other).splitlines()] == table
    line = "| lm1b | en | 20260101 | sentences | train 1,204, test 118 | train 30,301,028, test 306,688"
    line += " | train 31,367, test 3,027, paper_test 548 | paper_test 159,658"
    line += " | {} | input of 20260101 |\n"
    assert line.format("–") in render_markdown(both)
    assert render_markdown(other).endswith(f"{line.format('–')}\n- {NO_SCORES}\n")
    kept |= {"train": 30_301_028, "test": 306_688}
    seal(news, manifest_of(news) | {"counts": {"kept": kept}})
    notes = f"{OTHER_TEXT}\n- {NO_SCORES}\n"
    published = render_markdown(find_sizes([str(news)]))
    assert published.endswith(f" | paper_test 43.8 perplexity | input of 20260101 |\n\n- {notes}")
    assert json.loads(render_json(other))["others"][0]["kept"] == {"train": 1204, "test": 118}
    for found in (both, other):
        shown = "sentences   train 1,204, test 118   train 30,301,028, test 306,688   train 31,367,"
        assert f"lm1b     en        20260101   {shown}" in render_text(found)


def test_figures_of_a_paper_are_left_out_beside_other_settings(tmp_path: Path) -> None:
    [sample] = (GOLDEN / "lm1b").glob("en-*/*/stats.json")
    news = write_build(tmp_path, "de", corpus="lm1b")
    (news / "stats.json").write_bytes(sample.read_bytes())
    seal(news, manifest_of(news) | {"counts": {"kept": {"train": 1204, "test": 118}}})
    found = find_sizes([str(tmp_path)])
    reason = "not the paper's settings: --language de"
    for render in (render_text, render_markdown):
        shown = render(found)
        assert f"no figures of the paper beside lm1b de: {reason}\n" in shown
        assert not {"43.8", "30,301,028", "159,658"} & set(shown.replace("\n", " ").split())
    [other] = json.loads(render_json(found))["others"]
    assert other["why_no_paper"] == reason
    assert other["paper"] == other["paper_words"] == other["paper_scores"] == {}
    assert (
        render_tsv(found)
        .splitlines()[1]
        .endswith(f"\ttrain\t1204\t\t31367\t\t\t{reason}\tinput of 20260101, --language de")
    )


def test_a_package_has_no_counts_of_words(tmp_path: Path) -> None:
    package = write_build(tmp_path, "translations", corpus="flores101")
    (package / "stats.json").unlink()
    seal(package, manifest_of(package) | {"counts": {"kept": {"dev": 997, "total": 997}}})
    assert "translations" in render_text(find_sizes([str(tmp_path)]))
