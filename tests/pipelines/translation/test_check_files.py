"""Tests of the checks of files that belong to no project."""

import json
import re
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from corpusmill.pipelines.translation.aligned_lines import read_lines
from corpusmill.pipelines.translation.check_files import check_files, make_page, make_tsv
from tests.makers.wiki_builds import Command

ENGLISH = [f"The {n} old boats of the village left at {n} o'clock." for n in range(11, 23)]
FRENCH = [f"Les {n} vieux bateaux du village sont partis à {n} heures." for n in range(11, 23)]
FRENCH[4] = "Les vieux bateaux du village&nbsp;sont partis."


def rows(texts: list[str], code: str, **more: str) -> list[dict[str, str]]:
    return [
        {"id": str(n), "iso_639_3": code, "iso_15924": "Latn", "text": text, **more}
        for n, text in enumerate(texts, 1)
    ]


def write(path: Path, texts: list[str], code: str) -> None:
    """Writes a file in the form that its name says."""
    path.parent.mkdir(exist_ok=True)
    if path.suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist(rows(texts, code)), path)
    elif path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows(texts, code)))
    elif path.suffix == ".csv":
        name = {"eng": "English", "fra": "French"}[code]
        path.write_text("language,text\n" + "".join(f"{name},{text}\n" for text in texts))
    elif path.suffix == ".tsv":
        path.write_text(
            "".join(f"{n}\t{text}\n" for n, text in [("id", "text"), *enumerate(texts)])
        )
    else:
        path.write_text("\n".join(texts) + "\n")


@pytest.mark.parametrize(
    ("source", "file"),
    [
        ("eng.devtest", "fra.devtest"),
        ("eng_Latn.devtest", "fra_Latn.devtest"),
        ("eng_Latn.parquet", "fra_Latn.parquet"),
        ("eng_Latn.jsonl", "fra_Latn.jsonl"),
        ("newstest2019-src.eng.txt", "newstest2019-ref.fra.txt"),
        ("eng.tsv", "fra.tsv"),
        ("eng.csv", "fra.csv"),
    ],
)
def test_files_of_each_set_are_checked_against_the_english_file_beside_them(
    source: str, file: str, tmp_path: Path
) -> None:
    write(tmp_path / source, ENGLISH, "eng")
    write(tmp_path / file, FRENCH, "fra")
    (checked,) = check_files([str(tmp_path / source), str(tmp_path / file)])
    found = [(one.rule, one.severity, one.line) for one in checked.findings]
    assert found == [("html-entities", "error", 5), ("numbers-differ", "warning", 5)]
    assert (checked.name, len(checked.texts)) == ("French", 12)
    assert "\tfra" in make_tsv([checked])
    assert FRENCH[4].replace("&", "&amp;") in make_page([checked])


def test_rows_are_paired_by_their_ids_and_the_languages_of_a_table_are_told_apart(
    tmp_path: Path,
) -> None:
    table = [*rows(FRENCH, "fra")[::-1], *rows(FRENCH[1:], "oci")]
    (tmp_path / "all.jsonl").write_text("".join(json.dumps(row) + "\n" for row in table))
    write(tmp_path / "english.parquet", ENGLISH, "eng")
    (tmp_path / "other.jsonl").write_bytes((tmp_path / "all.jsonl").read_bytes())
    french, occitan = check_files(
        [str(tmp_path / "all.jsonl")], source=str(tmp_path / "english.parquet")
    )
    assert [one.id for one in french.findings if one.severity == "error"] == ["5"]
    assert [one.rule for one in occitan.findings if one.id == "12"] == ["missing"]
    assert {*read_lines(str(tmp_path / "all.jsonl"))} == {"fra_Latn", "oci_Latn"}
    (refused,) = check_files([str(tmp_path / "all.jsonl")], "deu", str(tmp_path / "other.jsonl"))
    assert "it has 2 languages, none of them English" in refused.findings[0].message


@pytest.mark.parametrize(
    ("name", "content", "given", "message"),
    [
        ("fra.devtest", "Un.\nDeux.\n", {}, "2 lines, but .*eng.devtest has 12"),
        ("deu.dev", "Eins.\n", {}, r"its English source is not known.*\(not there: eng.dev, "),
        ("texts.dev", "Un.\n", {"source": "eng.devtest"}, "name it with --language"),
        (
            "fra.jsonl",
            '{"words": "Un."}\n',
            {"source": "eng.devtest"},
            "row 1: no text in the columns text",
        ),
        ("fra.devtest", b"\xff\xfe\x00\n", {}, "not UTF-8"),
        ("fra.devtest", "Un.\n" * 12, {"language": "frz"}, 'no language "frz"'),
    ],
)
def test_file_that_cannot_be_checked_has_an_error_of_its_own(
    name: str, content: str | bytes, given: dict[str, str], message: str, tmp_path: Path
) -> None:
    write(tmp_path / "eng.devtest", ENGLISH, "eng")
    (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    if "source" in given:
        given = {**given, "source": str(tmp_path / given["source"])}
    (checked,) = check_files([str(tmp_path / name)], **given)
    (finding,) = checked.findings
    assert finding.rule == "not-checked"
    assert re.search(message, finding.message)


def test_command_writes_table_and_page_and_fails_if_there_are_errors(
    tmp_path: Path, run: Command
) -> None:
    write(tmp_path / "eng.devtest", ENGLISH, "eng")
    for code, texts in (
        ("fra", FRENCH),
        ("fr-CA", [*FRENCH[:4], FRENCH[3].replace("14", "15"), *FRENCH[5:]]),
    ):
        write(tmp_path / f"{code}.devtest", texts, code)
    files = [str(tmp_path / f"{code}.devtest") for code in ("eng", "fra", "fr-CA")]
    outputs = ["--output", str(tmp_path / "found.tsv"), "--html", str(tmp_path / "found.html")]
    ran = run("flores101", "check", *files, *outputs, "--workers", "1", status=1)
    assert "fra.devtest: French, 12 lines: 1 error, 1 warning" in ran.out
    assert len((tmp_path / "found.tsv").read_text().splitlines()) > 2
    assert "<h1>Checks of translations</h1>" in (tmp_path / "found.html").read_text()
    assert "either files" in run("flores101", "check", *files, "--project", "p", status=2).err
