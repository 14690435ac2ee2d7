import hashlib
from pathlib import Path

import pytest

from tests.tools.run_pipeline import run_pipeline
from transforms.files import hash_inputs
from transforms.files.hash_inputs import HashInputs, hash_unchanged
from transforms.files.open_input import InputError
from transforms.records import InputFile


def test_stored_bytes_are_hashed_whatever_the_compression(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hash_inputs, "READ_BYTES", 7)
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
