from pathlib import Path

from corpusmill.transforms.wikipedia.audit_pages import ListUnrendered, TallyUnrendered
from corpusmill.transforms.wikipedia.clean_wikitext import GUESS, Unrendered
from tests.tools.run_pipeline import run_transform

HEADER = "uses\tarticles\ttemplate\tleft\tfor example in\n"


def test_templates_are_listed_by_frequency(tmp_path: Path) -> None:
    found = [
        Unrendered("рівноденник", 1, "В"),
        Unrendered("одиниця", 2, "Б"),
        Unrendered("азимут", 1, "В"),
        Unrendered("одиниця", 3, "А"),
        Unrendered("широта", 1, "В"),
        Unrendered("широта", 1, "Г"),
        Unrendered("висота", 2, "Д"),
        Unrendered("висота", 1, "Д", GUESS),
    ]
    tallied = run_transform(TallyUnrendered(), found).elements["main"]
    outcome = run_transform(ListUnrendered(str(tmp_path)), tallied)
    (file,) = outcome.elements["main"]
    assert (file.name, file.split, file.format, file.records) == (
        "unrendered-templates.tsv", "", "tsv", 6,
    )  # fmt: skip
    assert (tmp_path / file.name).read_text(encoding="utf-8") == (
        f"{HEADER}5\t2\tодиниця\ta hole\tА\n2\t2\tширота\ta hole\tВ\n2\t1\tвисота\ta hole\tД\n"
        "1\t1\tазимут\ta hole\tВ\n1\t1\tвисота\ta guess\tД\n1\t1\tрівноденник\ta hole\tВ\n"
    )


def test_a_name_from_the_dump_is_one_cell_and_no_formula(tmp_path: Path) -> None:
    found = [Unrendered('=HYPERLINK("a")\n\tb', 1, "@A\nB")]
    run_transform(
        ListUnrendered(str(tmp_path)), run_transform(TallyUnrendered(), found).elements["main"]
    )
    assert (tmp_path / "unrendered-templates.tsv").read_text(encoding="utf-8") == (
        f"{HEADER}1\t1\t'=HYPERLINK(\"a\") b\ta hole\t'@A B\n"
    )


def test_with_nothing_unrendered_there_is_a_head(tmp_path: Path) -> None:
    outcome = run_transform(ListUnrendered(str(tmp_path)), [])
    (file,) = outcome.elements["main"]
    assert file.records == 0
    assert (tmp_path / file.name).read_text(encoding="utf-8") == HEADER
