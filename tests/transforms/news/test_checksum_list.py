import hashlib
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.transforms.news.artefacts import ListedSum, MalformedListError, read_checksums
from tests.tools.error_of import error_of

ONE = "bcb03d49251689ab1117428009f6adbf"
TWO = "93a6e9de2a184d315c51cbadd798ef8a"


@pytest.mark.parametrize(
    ("line", "name"),
    [
        (f"{ONE}  news.en", "news.en"),
        (f"{ONE} *news.en", "news.en"),  # read as binary
        (f"{ONE} news.en", "news.en"),  # md5 -r
        (f"{ONE}\tnews.en", "news.en"),
        (f"  {ONE}  news.en", "news.en"),
        (f"{ONE}  a folder/news en", "a folder/news en"),
        (f"{ONE}  ./news.en", "./news.en"),
        (f"{ONE.upper()}  news.en", "news.en"),
        (f"{ONE}  news.en\r", "news.en"),
        (f"\\{ONE}  odd\\\\na\\nme", "odd\\na\nme"),
        (f"{ONE}  not\\nescaped", "not\\nescaped"),
        (f"MD5 (news.en) = {ONE}", "news.en"),
        (f"MD5 (a (b).txt) = {ONE.upper()}", "a (b).txt"),
    ],
)
def test_styles_of_lists(line: str, name: str) -> None:
    assert read_checksums(f"\n{line}\n") == [ListedSum(name, ONE, 2)]


def test_prose_is_passed_over() -> None:
    text = f"""Copyright 2013.
CHECKPOINT 1: After the download:
$ md5sum tar_archives/x.tgz
{ONE}  tar_archives/x.tgz

md5sum (GNU coreutils) 8.13
	DEBPKG:fixes/index-tainting - [3b36395] http://bugs.debian.org/291450
{TWO}  y
deadbeef  z
{ONE}
"""
    assert read_checksums(text) == [
        ListedSum("tar_archives/x.tgz", ONE, 4),
        ListedSum("y", TWO, 8),
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the list has no MD5 checksum"),
        ("News, without sums.\n", "the list has no MD5 checksum"),
        (f"{ONE[:-1]}  x\n", "line 1: 31 hexadecimal digits before x; an MD5 checksum has 32"),
        (f"{ONE}0  x\n", "line 1: 33 hexadecimal digits before x; an MD5 checksum has 32"),
        (f"{ONE}  x\n{ONE}{TWO}  y\n", "line 2: expected MD5 checksums, found SHA-256"),
        (f"{ONE}{'0' * 8}  y\n", "line 1: expected MD5 checksums, found SHA-1"),
        (f"SHA256 (y) = {ONE}{TWO}\n", "line 1: expected MD5 checksums, found SHA256"),
        (f"SHA512 (y) = {'0' * 128}\n", "line 1: expected MD5 checksums, found SHA512"),
        ("MD5 (x) = 0123\n", "line 1: 4 hexadecimal digits before x; an MD5 checksum has 32"),
        (f"{ONE}  x\n\n{TWO}  x\n", "line 3: the checksum of x differs from that in line 1"),
    ],
)
def test_lists_that_are_none(text: str, message: str) -> None:
    assert error_of(MalformedListError, read_checksums, text) == message


def test_a_name_that_is_listed_twice_is_there_once() -> None:
    text = f"{ONE}  x\n{TWO}  y\nMD5 (x) = {ONE.upper()}\n"
    assert read_checksums(text) == [ListedSum("x", ONE, 1), ListedSum("y", TWO, 2)]


NAMES = st.text(
    st.characters(codec="utf-8", exclude_characters="/\0"), min_size=1, max_size=20
).filter(lambda name: name.strip() == name and name not in (".", ".."))


@given(NAMES)
def test_names_that_md5sum_escapes(name: str) -> None:
    escaped = name.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r")
    mark = "\\" if escaped != name else ""
    assert read_checksums(f"{mark}{ONE}  {escaped}\n") == [ListedSum(name, ONE, 1)]


@pytest.mark.parametrize("flags", [[], ["--binary"], ["--tag"]])
def test_what_md5sum_writes(tmp_path: Path, flags: list[str]) -> None:
    content = {"plain": b"a", "with blank": b"b", "back\\slash": b"c", "line\nfeed": b"d"}
    for name, data in content.items():
        (tmp_path / name).write_bytes(data)
    written = subprocess.run(
        ["md5sum", *flags, *content], cwd=tmp_path, check=True, capture_output=True, text=True
    )
    expected = {name: hashlib.md5(data).hexdigest() for name, data in content.items()}
    assert {one.name: one.md5 for one in read_checksums(written.stdout)} == expected
