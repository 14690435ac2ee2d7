import hashlib
import re
from pathlib import Path

import pytest

from corpusmill.transforms.files import read_files
from corpusmill.transforms.files.read_files import HashInputs, InputError, hash_unchanged
from corpusmill.transforms.files.records import InputFile
from corpusmill.transforms.wikipedia.find_dumps import sums_beside
from tests.tools.run_pipeline import run_pipeline


def test_stored_bytes_are_hashed_whatever_the_compression(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(read_files, "READ_BYTES", 7)
    contents = {"a.xml.bz2": b"no bz2 at all", "b.sql.gz": b"", "c.json": b"[]\n"}
    paths = {}
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
        paths[name] = str(tmp_path / name)
    roles = {
        "dump": [paths["a.xml.bz2"], paths["c.json"]],
        "page-props": [paths["b.sql.gz"]],
        "entities": [],
    }
    outcome = run_pipeline(lambda root: {"inputs": root | HashInputs(roles)})
    assert sorted(outcome.elements["inputs"]) == [
        InputFile(role, name, len(contents[name]), hashlib.sha256(contents[name]).hexdigest())
        for role, name in (("dump", "a.xml.bz2"), ("dump", "c.json"), ("page-props", "b.sql.gz"))
    ]


def test_a_file_that_changes_while_it_is_read_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "news"
    path.write_bytes(b"one\n")
    with pytest.raises(InputError, match=r"news, byte 4: .*it had 8 bytes, and now 4"):
        hash_unchanged("news", str(path), 8)


RIGHT, WRONG = hashlib.sha256(b"pages").hexdigest(), "0" * 64


@pytest.mark.parametrize(
    ("listed", "error"),
    [
        (f"{RIGHT}  ukwiki-2026-11-01-p1p5.xml.bz2\n", ""),
        (f"{WRONG}  ukwiki-2026-11-01-p6p9.xml.bz2\n", ""),
        (f"{WRONG}  ukwiki-2026-11-01-p1p5.xml.bz2\n",
         f"its SHA-256 is {RIGHT}, but SHA256SUMS beside it lists {WRONG}"),
        ("a login page", "SHA256SUMS: line 1 is not a SHA-256 and a name: 'a login page'"),
    ],
)  # fmt: skip
def test_files_of_exports_are_those_that_are_listed(
    tmp_path: Path, listed: str, error: str
) -> None:
    path = tmp_path / "ukwiki-2026-11-01-p1p5.xml.bz2"
    path.write_bytes(b"pages")
    (tmp_path / "SHA256SUMS").write_text(listed)

    def hashed(check_sums: bool) -> list[InputFile]:
        sums = sums_beside([str(path)]) if check_sums else {}
        hashing = HashInputs({"dump": [str(path)]}, sums)
        return run_pipeline(lambda root: {"inputs": root | hashing}).elements["inputs"]

    assert [file.sha256 for file in hashed(False)] == [RIGHT]
    if error:
        with pytest.raises(Exception, match=re.escape(error)):
            hashed(True)
    else:
        assert hashed(True) == hashed(False)
