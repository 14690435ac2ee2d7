import subprocess
from pathlib import Path

import pytest

from corpusmill.pipelines.inspect.verify import Comparison, compare_with_list, read_list
from corpusmill.transforms.files.builds.check_builds import Fault
from corpusmill.transforms.files.builds.finished_builds import open_build
from corpusmill.transforms.files.read_files import InputError
from tests.makers import sentence_builds
from tests.tools.case_tables import read_cases
from tests.tools.error_of import error_of

ONE = "bcb03d49251689ab1117428009f6adbf"
TWO = "93a6e9de2a184d315c51cbadd798ef8a"
SHARD = f"{sentence_builds.TRAIN}/news.en-00001-of-00003"
OTHER = b"One .\nOther .\n"
MORE = "a/news.en-00003-of-00003"


def different(found: bytes, listed: bytes) -> str:
    return f"has the MD5 {sentence_builds.md5_of(found)}, but {sentence_builds.md5_of(listed)} in the list"


def read(folder: Path, text: str) -> dict[str, str]:
    (folder / "list").write_bytes(text.encode())
    return read_list(str(folder / "list"))


@pytest.mark.parametrize(("line", "name"), read_cases("news/check_checksums", "styles_of_lists"))
def test_styles_of_lists(line: str, name: str, tmp_path: Path) -> None:
    assert read(tmp_path, f"\n{line}\n{line}\n") == {name: ONE}


def test_prose_in_a_list_is_skipped(tmp_path: Path) -> None:
    text = f"""Copyright 2013.
$ md5sum tar_archives/x.tgz
{ONE}  tar_archives/x.tgz

	DEBPKG:fixes/index-tainting - [3b36395] http://bugs.debian.org/291450
{TWO}  y
deadbeef  z
{ONE}
"""
    assert read(tmp_path, text) == {"tar_archives/x.tgz": ONE, "y": TWO}


@pytest.mark.parametrize(
    ("text", "message"), read_cases("news/check_checksums", "invalid_list_is_rejected")
)
def test_invalid_list_is_rejected(text: str, message: str, tmp_path: Path) -> None:
    assert error_of(InputError, read, tmp_path, text) == f"{tmp_path}/list: {message}"


def test_output_of_md5sum_is_read(tmp_path: Path) -> None:
    (tmp_path / "with blank").write_bytes(b"a")
    made = subprocess.run(
        ["md5sum", "with blank"], cwd=tmp_path, check=True, capture_output=True, text=True
    )
    assert read(tmp_path, made.stdout) == {"with blank": sentence_builds.md5_of(b"a")}


LINES = b"".join(sorted(b"".join(sentence_builds.SHARDS).splitlines(keepends=True)))


@pytest.mark.parametrize(
    ("listed", "equal", "faults"),
    [
        ({}, 5, []),
        ({"elsewhere/news.2007.en.shuffled": b"", sentence_builds.SORTED: LINES}, 6, []),
        ({sentence_builds.SORTED: b"x"}, 5, [(sentence_builds.SORTED, different(LINES, b"x"))]),
        ({SHARD: OTHER}, 4, [(SHARD, different(sentence_builds.SHARDS[1], OTHER))]),
        (
            {MORE: b""},
            5,
            [(MORE, "is in the list of checksums, but not in the build")],
        ),
    ],
)
def test_files_are_compared_with_the_list(
    listed: dict[str, bytes], equal: int, faults: list[tuple[str, str]], tmp_path: Path
) -> None:
    build = sentence_builds.make_sentence_build(
        tmp_path, parts={sentence_builds.SORTED: [LINES[:6], b"", LINES[6:]]}
    )
    sums = sentence_builds.texts_below(build) | listed
    (tmp_path / "list").write_text(sentence_builds.list_sums(sums))
    found = compare_with_list(open_build(str(build)), str(tmp_path / "list"))
    assert found == Comparison(len(sums), equal, [Fault(*one) for one in faults])


def test_list_of_other_files_is_a_fault(tmp_path: Path) -> None:
    build = sentence_builds.make_sentence_build(tmp_path)
    (tmp_path / "list").write_text(sentence_builds.list_sums({"news.2007.en.shuffled": b"x"}))
    faults = [Fault(f"{tmp_path}/list", "lists no file of the build")]
    found = compare_with_list(open_build(str(build)), str(tmp_path / "list"))
    assert found == Comparison(1, 0, faults)


@pytest.mark.parametrize(
    ("reference", "told"),
    [
        (OTHER, "first difference: line 2: “Two .” in the build, “Other .” in the reference"),
        (b"One .\n", "first difference: line 2: “Two .” in the build, nothing in the reference"),
        (sentence_builds.SHARDS[1], "equals the reference"),
    ],
)
def test_first_line_that_differs_from_the_reference(
    reference: bytes, told: str, tmp_path: Path
) -> None:
    build = sentence_builds.make_sentence_build(tmp_path / "corpora")
    (tmp_path / "scripts" / sentence_builds.HELDOUT).mkdir(parents=True)
    (tmp_path / "scripts" / sentence_builds.HELDOUT / "news.en-00001-of-00003").write_bytes(
        reference
    )
    (tmp_path / "list").write_text(sentence_builds.list_sums({SHARD: OTHER}))
    how = str(tmp_path / "list"), f"{tmp_path}/scripts/"
    found = compare_with_list(open_build(str(build)), *how)
    assert found.faults == [Fault(SHARD, f"{different(sentence_builds.SHARDS[1], OTHER)}; {told}")]
