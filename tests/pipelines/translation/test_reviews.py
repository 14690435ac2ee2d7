"""The verdict, to the point: 89.9 is sent back, 90 is accepted; two reviewers' sheets are one review."""

from pathlib import Path

import pytest

from corpusmill.pipelines.translation.project import find_source
from corpusmill.transforms.files.markup import write_table
from corpusmill.transforms.translation.source_table import write_source
from tests.pipelines.translation.offices import Office, good, read_packet, target_of
from tests.pipelines.translation.small_projects import kinds, small_sentences, state_of

WORDS = 125  # of a sentence: 1,000 of all that are reviewed, and so 100 points are a score of 90


@pytest.fixture
def checked(office: Office) -> Office:
    """All eight sentences are reviewed."""
    sentences = [one._replace(text=" ".join([one.id] * WORDS)) for one in small_sentences()]
    source = office.folder / "long.tsv"
    source.write_text(write_source(sentences), "utf-8")
    assert find_source(str(source)) == sentences
    office.do("packets", "--languages", "fra", "--source", source, "--review-share", "1")
    office.do("import", office.translate(good()))
    office.do("check")
    return office


def sheet(office: Office, reviewer: str) -> Path:
    office.do("review", "--sheets", "--reviewer", reviewer, "--to", office.folder / "out")
    return office.folder / "out" / f"fra-review-round1-{reviewer}.tsv"


def fill(path: Path, first: int, last: int, errors: list[str]) -> Path:
    """Rows from `first` to `last` are reviewed; a severity each for errors of the first of them."""
    columns, rows = read_packet(path)
    mine = rows[first - 1 : last]
    for row in mine:
        row["category"] = "ok"
    if errors:
        mine[0] |= {"category": "spelling", "severity": errors[0], "comment": "look"}
    more = [
        {**mine[0], "severity": severity, "source": "", target_of(columns): ""}
        for severity in errors[1:]
    ]
    table = write_table(columns, [list(row.values()) for row in [*rows, *more]])
    path.write_text(table, "utf-8")
    return path


@pytest.mark.parametrize(
    ("points_of_ben", "told", "state"),
    [
        (["critical"] * 5, "fra: score 90.0, 90 is needed: accepted (verdict 0008)", "accepted"),
        (
            [*["critical"] * 5, "minor"],
            "fra: score 89.9, 90 is needed: sent back: `packets` begins the next round (verdict 0008)",
            "sent back",
        ),
    ],
)
def test_at_90_accepted_and_at_899_sent_back(
    checked: Office, points_of_ben: list[str], told: str, state: str
) -> None:
    ama = fill(sheet(checked, "Ama"), 1, 4, ["critical"] * 5)
    ben = fill(sheet(checked, "Ben"), 5, 8, points_of_ben)
    half = checked.do("review", "--import", ama).out
    assert "4 of 8 sentences of the sample are reviewed" in half
    assert "score" not in half
    assert checked.state() == "in review"
    whole = checked.do("review", "--import", ben).out
    assert told in whole
    assert checked.state() == state
    assert ["Ama", "4", "5", "90.0"] in [line.split() for line in whole.splitlines()]
    assert kinds(checked.project)[-3:] == ["review", "review", "verdict"]
    verdict = state_of(checked.project).verdict
    assert verdict
    assert verdict.facts["points"] == str(50 + 10 * 5 + len(points_of_ben) - 5)
    assert verdict.facts["words"] == 8 * WORDS


def test_both_files_at_once_are_one_review(checked: Office) -> None:
    ama = fill(sheet(checked, "Ama"), 1, 5, ["major"])
    ben = fill(sheet(checked, "Ben"), 4, 8, ["minor"])
    told = checked.do("review", "--import", ben, ama).out
    assert "5 of 8 sentences" in told
    assert "8 of 8 sentences" in told
    # 5 points of row 1, and half a point of row 4, which both have reviewed.
    assert "fra: score 99.4, 90 is needed: accepted" in told
    assert "errors: 1 minor, 1 major" in told
    assert "errors: 2 spelling" in told


def test_sent_back_translated_again_and_accepted(checked: Office) -> None:
    fill(sheet(checked, "Ama"), 1, 8, ["critical"] * 11)
    checked.do("review", "--import", checked.folder / "out/fra-review-round1-Ama.tsv")
    shown = checked.do("status").out
    assert "next for fra: `packets` begins the next round" in shown
    sent = checked.do("packets", "--languages", "fra").out
    assert "round 2, all 8 sentences: reviewers scored 89.0" in sent
    notes = {
        row["id"]: row["notes"] for row in read_packet(checked.newest_file("fra-round2.tsv"))[1]
    }
    assert notes["dev-0001"].count("critical spelling: look") == 11
    assert '"score": null' in checked.do("status", "--json").out  # of round 1 it was

    checked.do("import", checked.translate({"dev-0001": "Mieux."}))
    checked.do("check")
    checked.do("review", "--sheets", "--reviewer", "Ama", "--to", checked.folder / "out")
    second = fill(checked.folder / "out/fra-review-round2-Ama.tsv", 1, 8, ["minor"])
    assert "fra: score 99.9, 90 is needed: accepted" in checked.do("review", "--import", second).out
    assert "next for fra: `package`" in checked.do("status").out
    assert (
        "nothing sent: the language is accepted" in checked.do("packets", "--languages", "fra").out
    )
    checked.do("package", "--output", checked.folder / "made")
    made = checked.folder / "made/flores101/flores101/1.0.0/dev/fra.dev"
    assert made.read_text("utf-8").startswith("Mieux.\n")
