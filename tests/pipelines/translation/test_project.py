"""Sources of sentences, and the settings of a project."""

import json
from fractions import Fraction
from pathlib import Path

import pytest

from corpusmill.pipelines.run.publish import TargetError
from corpusmill.pipelines.translation.project import (
    Rules,
    create_project,
    find_source,
    open_project,
)
from corpusmill.transforms.files.read_files import InputError
from tests.pipelines.translation.small_projects import (
    IDS,
    small_project,
    small_sentences,
    source_file,
    tree,
)
from tests.tools.case_tables import read_cases

METADATA = "URL\tdomain\ttopic\thas_image\thas_hyperlink\n"


def test_a_project_is_what_it_was_made_with(tmp_path: Path) -> None:
    rules = Rules("wiki-2026", 7, Fraction(1, 3), Fraction("92.5"))
    made = create_project(str(tmp_path / "p"), rules, small_sentences())
    there = open_project(str(tmp_path / "p"))
    assert (there.rules, list(there.sentences)) == (rules, small_sentences())
    assert there.ids == IDS
    assert there.key == made.key == f"wiki-2026-{made.source_sha256[:8]}"
    assert sorted(tree(tmp_path)) == ["p/project.json", "p/source.tsv"]
    assert there.languages == []


def test_the_same_project_may_be_made_again_and_no_other(tmp_path: Path) -> None:
    small_project(tmp_path / "p", seed=1)
    before = tree(tmp_path)
    small_project(tmp_path / "p", seed=1)
    with pytest.raises(TargetError, match="other sentences or rules"):
        small_project(tmp_path / "p", seed=2)
    with pytest.raises(TargetError, match="other sentences or rules"):
        create_project(str(tmp_path / "p"), Rules(seed=1), small_sentences()[1:])
    assert tree(tmp_path) == before


def test_other_files_stay(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("mine")
    with pytest.raises(TargetError, match=r"cannot create a project in .*: Directory not empty"):
        small_project(tmp_path)
    assert tree(tmp_path) == {"thesis.tex": b"mine"}


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ({"name": "a/b"}, "`name` must consist of letters, digits,"),
        ({"name": ""}, "`name` must consist of letters, digits,"),
        ({"review_share": Fraction(0)}, "above 0 and at most 1"),
        ({"review_share": Fraction(2)}, "above 0 and at most 1"),
        ({"accepted_score": Fraction(101)}, "from 0 to 100"),
    ],
)
def test_rules_that_cannot_be(tmp_path: Path, rules: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        small_project(tmp_path / "p", **rules)
    assert list(tmp_path.iterdir()) == []


def test_what_is_no_project(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not a translation project"):
        open_project(str(tmp_path))
    small_project(tmp_path / "p")
    whole = json.loads((tmp_path / "p" / "project.json").read_text())
    for content in (
        *("", "[]", "[" * 100_000, '{"format": 1}'),
        *(
            json.dumps(whole | {name: value})
            for name, value in (
                *(("seed", "x"), ("name", None), ("review_share", 1)),
                *(
                    ("review_share", "x"),
                    ("accepted_score", "1/0"),
                    ("accepted_score", "9" * 5_000),
                ),
            )
        ),
    ):
        (tmp_path / "project.json").write_text(content)
        with pytest.raises(InputError, match=r"project\.json: is damaged"):
            open_project(str(tmp_path))


def test_a_project_of_a_later_format(tmp_path: Path) -> None:
    small_project(tmp_path / "p")
    path = tmp_path / "p" / "project.json"
    path.write_text(path.read_text().replace('"format": 1', '"format": 2'))
    with pytest.raises(InputError, match="format 2, but this version of corpusmill reads format 1"):
        open_project(str(tmp_path / "p"))


def test_sentences_that_were_changed_behind_its_back(tmp_path: Path) -> None:
    small_project(tmp_path / "p")
    path = tmp_path / "p" / "source.tsv"
    path.write_text(path.read_text().replace("It rained.", "It snowed."))
    with pytest.raises(InputError, match=r"source\.tsv: was changed or is damaged"):
        _ = open_project(str(tmp_path / "p")).sentences


def test_a_table_or_the_build_that_holds_it(tmp_path: Path) -> None:
    path = source_file(tmp_path)
    assert find_source(str(path)) == find_source(str(tmp_path)) == small_sentences()
    (tmp_path / "manifest.json").write_text("{}")
    with pytest.raises(InputError, match="no finished build: there is no file COMPLETED"):
        find_source(str(tmp_path))
    (tmp_path / "COMPLETED").write_text("")
    assert find_source(str(tmp_path)) == small_sentences()


def test_a_damaged_table_is_named_with_the_line(tmp_path: Path) -> None:
    path = source_file(tmp_path)
    path.write_text(path.read_text().replace("dev-0002", "dev-0003"))
    with pytest.raises(InputError, match=r"source\.tsv: line 3: .*dev-0002.*'dev-0003'"):
        find_source(str(path))


def write_release(folder: Path, split: str, lines: str, rows: str, misspelt: bool = False) -> None:
    (folder / split).mkdir(parents=True)
    (folder / split / f"eng.{split}").write_text(lines, "utf-8")
    name = f"{'metedata' if misspelt else 'metadata'}_{split}.tsv"
    (folder / name).write_text(METADATA + rows, "utf-8")


def test_a_released_data_set(tmp_path: Path) -> None:
    rows = (
        "https://x/A\twikinews\thealth \tyes\tno\n" * 2 + "https://x/B\twikibooks\tart\tno\tyes\n"
    )
    write_release(tmp_path, "devtest", " Un\u2028e.\nDeux.\nTrois.\n", rows, misspelt=True)
    write_release(tmp_path, "dev", "One.\n", "https://x/C\twikivoyage\t\tno\tno\n")
    found = find_source(str(tmp_path))
    assert [one.id for one in found] == ["dev-0001", "devtest-0001", "devtest-0002", "devtest-0003"]
    assert found[1] == (
        *("devtest-0001", "devtest", "wikinews:devtest-0001", " Un\u2028e."),
        *("https://x/A", "wikinews", "health ", True, False, ""),
    )
    assert [one.article for one in found[2:]] == ["wikinews:devtest-0001", "wikibooks:devtest-0003"]
    assert find_source(str(tmp_path / "devtest")) == found[1:]


@pytest.mark.parametrize(
    ("lines", "rows", "message"),
    read_cases("translation/project", "damaged_releases"),
)
def test_a_damaged_release(tmp_path: Path, lines: str, rows: str, message: str) -> None:
    write_release(tmp_path, "dev", lines, rows)
    with pytest.raises(InputError, match=message):
        find_source(str(tmp_path))


def test_no_source(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no sentences to translate"):
        find_source(str(tmp_path))
    with pytest.raises(InputError, match="no such file"):
        find_source(str(tmp_path / "x.tsv"))
    (tmp_path / "eng.dev").write_text("One.\n")
    with pytest.raises(
        InputError, match=r"there is no metadata_dev\.tsv in this folder or its parent"
    ):
        find_source(str(tmp_path))
    (tmp_path / "eng.dev").write_bytes(b"One.\n\xff\n")
    (tmp_path / "metadata_dev.tsv").write_text(METADATA)
    with pytest.raises(InputError, match=r"eng\.dev: line 2 is not UTF-8"):
        find_source(str(tmp_path))
