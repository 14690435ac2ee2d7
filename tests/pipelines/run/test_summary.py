"""The summary of a build at its end."""

import json
import re
from typing import Any

import pytest

from corpusmill.pipelines.run.launch import print_json, print_summary
from tests.tools.case_tables import read_tables

SUMMARIES = read_tables("pipelines/summaries")["summary"]
COUNTS = ("articles", "sections", "paragraphs", "words", "characters", "pieces")


@pytest.mark.parametrize("case", SUMMARIES, ids=lambda case: case["of"])
def test_a_summary_has_tables_vocabularies_notes_and_the_folder(
    case: dict[str, Any], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("COLUMNS", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    manifest, stats = json.loads(case["manifest"]), json.loads(case["stats"])
    print_summary(case["folder"], manifest, stats, case["seconds"])
    assert capsys.readouterr().out == case["printed"]


@pytest.mark.parametrize("color", ["1", ""])  # a terminal; a pipe
@pytest.mark.parametrize("split", ["test", "before_deduplication"])
@pytest.mark.parametrize("count", [12_345_678, 4_123_456_789])
def test_the_summary_fits_the_columns(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    color: str,
    split: str,
    count: int,
) -> None:
    for name, value in (("FORCE_COLOR", color), ("COLUMNS", "80"), ("TERM", "dumb")):
        monkeypatch.setenv(name, value)
    splits = ("train", "validation", split, "paper_test", "total")
    stats = dict.fromkeys(splits, dict.fromkeys(COUNTS, count))
    print_summary("/data/uk", json.loads(SUMMARIES[0]["manifest"]), stats, 3.21)
    out = re.sub(r"\x1b\[[0-9;]*m", "", capsys.readouterr().out)
    assert out.count(f"{count:,}") == len(stats) * len(COUNTS)
    assert not [line for line in out.splitlines() if len(line) > 80 or "…" in line]


def test_programs_get_one_line_of_json(capsys: pytest.CaptureFixture[str]) -> None:
    given = json.loads(SUMMARIES[0]["manifest"]) | {"settings": {"language": "uk"}}
    stats = json.loads(SUMMARIES[0]["stats"])
    print_json("/data/uk", given, stats, 3.21)
    printed = capsys.readouterr().out
    assert printed.count("\n") == 1
    names = ("signature", "settings", "counts", "caveats", "lost")
    told = {"target": "/data/uk", "seconds": 3.2, **{name: given[name] for name in names}}
    assert json.loads(printed) == {**told, "stats": stats}
