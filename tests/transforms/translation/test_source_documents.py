"""Documents → candidates, whatever is wrong with the files and whatever order they come in."""

import gzip
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from corpusmill.transforms.translation import selection
from corpusmill.transforms.translation.find_passages import DocumentFiles, SourceDocuments
from corpusmill.transforms.translation.source_accounts import NewerDocuments
from tests.makers.documents import make_documents, write_documents
from tests.tools.run_pipeline import Outcome, run_pipeline

DOCUMENTS = make_documents()


def source(
    paths: Sequence[str], on_corrupt: str = "fail", newer_than: str = "", workers: int = 0
) -> Outcome:
    files = DocumentFiles("news", sorted(paths), newer_than)
    return run_pipeline(lambda root: root | SourceDocuments(files, 3, on_corrupt), workers)


def by_id(outcome: Outcome) -> list[Any]:
    return sorted(outcome.elements["candidates"], key=lambda one: str(one.page_id))


@pytest.mark.parametrize(("end", "workers"), [("", 0), (".gz", 2), (".bz2", 0), (".xz", 0)])
def test_every_document_gives_a_candidate(tmp_path: Path, end: str, workers: int) -> None:
    whole = source([write_documents(tmp_path / "all.jsonl", DOCUMENTS)])
    paths = [
        write_documents(tmp_path / f"{part}.jsonl{end}", DOCUMENTS[::-1][part::2])
        for part in (0, 1)
    ]
    found = source(paths, workers=workers)
    assert by_id(found) == by_id(whole)
    assert [one.page_id for one in by_id(found)] == sorted(one["id"] for one in DOCUMENTS)
    assert found.elements["pages"] == [("news", 30)]
    assert found.elements["rejected"] == []
    days = NewerDocuments("", "2026-01-01", "2026-06-28")
    assert found.elements["newer"] == [("news", days)]


def test_older_documents_are_left_out(tmp_path: Path) -> None:
    found = source([write_documents(tmp_path / "a.jsonl", DOCUMENTS)], newer_than="2026-03-15")
    rejected = {(one.id, one.stage, one.reason, one.detail) for one in found.elements["rejected"]}
    assert rejected == {
        (f"news:{one['id']}", "news/drop-older-documents", "older-document", one["date"])
        for one in DOCUMENTS
        if one["date"] <= "2026-03-15"
    }
    assert len(by_id(found)) == sum(one["date"] > "2026-03-15" for one in DOCUMENTS)
    [(_, newer)] = found.elements["newer"]
    assert newer.first_day > newer.newer_than == "2026-03-15"
    nothing = source([write_documents(tmp_path / "a.jsonl", DOCUMENTS)], newer_than="2026-12-31")
    assert nothing.elements["newer"] == [("news", NewerDocuments("2026-12-31", "", ""))]


def bad_lines(path: Path) -> str:
    """A byte order mark, empty lines, CRLF, no line feed at the end; and in lines 4, 5 and 7 what is bad."""
    good = [json.dumps(one).encode() for one in DOCUMENTS[:4]]
    lines = [
        *(b"\xef\xbb\xbf" + good[0] + b"\r", b" ", good[1]),
        *(b"{}", b'{"id": "' + b"x" * 3000 + b'"}', b"", b"\xff", good[2]),
        good[3],
    ]
    path.write_bytes(b"\n".join(lines))
    return str(path)


def test_bad_lines_are_rejected_and_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(selection, "MAX_LINE_BYTES", 2000)
    found = source([bad_lines(tmp_path / "a.jsonl")], "keep-good")
    assert [one.page_id for one in by_id(found)] == sorted(one["id"] for one in DOCUMENTS[:4])
    assert found.elements["pages"] == [("news", 7)]
    rejected = sorted(found.elements["rejected"])
    assert {(one.stage, one.reason) for one in rejected} == {
        ("news/read-documents", "malformed-document")
    }
    assert [(one.id, one.detail) for one in rejected] == [
        ("news:a.jsonl, line 4", "Object missing required field `id`"),
        ("news:a.jsonl, line 5", "the line has more than 2,000 bytes"),
        ("news:a.jsonl, line 7", "not UTF-8: invalid byte at offset 0 of the line"),
    ]


def test_the_first_bad_line_is_an_error_with_its_place(tmp_path: Path) -> None:
    path = bad_lines(tmp_path / "a.jsonl")
    with pytest.raises(Exception, match=r"a\.jsonl: line 4: Object missing required field `id`"):
        source([path])


@pytest.mark.parametrize("on_corrupt", ["fail", "keep-good"])
def test_a_damaged_file_is_an_error(tmp_path: Path, on_corrupt: str) -> None:
    path = tmp_path / "a.jsonl.gz"
    whole = gzip.compress("".join(f"{json.dumps(one)}\n" for one in DOCUMENTS).encode())
    path.write_bytes(whole[: len(whole) * 2 // 3])
    with pytest.raises(Exception, match=r"a\.jsonl\.gz: line \d+: damaged or truncated"):
        source([str(path)], on_corrupt)


def repeated(folder: Path) -> list[str]:
    """An id that is in the first file twice, and in the second once; the second document of all is short."""
    first, *others = DOCUMENTS[:5]
    again = first | {"text": "Too short.", "title": "Again"}
    third = first | {"title": "Third"}
    return [
        write_documents(folder / "a.jsonl", [others[0], first, again, *others[1:]]),
        write_documents(folder / "b.jsonl", [third]),
    ]


def test_an_id_that_is_there_twice_is_an_error(tmp_path: Path) -> None:
    message = r"a\.jsonl: line 3: the id 'bridge-tarnholt' is already used in a\.jsonl, line 2"
    with pytest.raises(Exception, match=message):
        source(repeated(tmp_path))


@pytest.mark.parametrize("workers", [0, 2])
def test_of_documents_with_one_id_the_first_is_kept(tmp_path: Path, workers: int) -> None:
    found = source(repeated(tmp_path), "keep-good", workers=workers)
    assert [one.title for one in by_id(found) if one.page_id == "bridge-tarnholt"] == [
        "Bridge in Tarnholt"
    ]
    assert len(by_id(found)) == 5
    rejected = Counter((one.title, one.reason) for one in found.elements["rejected"])
    assert rejected == {("Again", "no-passage"): 1, ("Third", "repeated-id"): 1}
    assert found.elements["pages"] == [("news", 7)]
