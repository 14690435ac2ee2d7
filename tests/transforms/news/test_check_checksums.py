import dataclasses
from pathlib import Path

import pytest

from corpusmill.transforms.files.read_files import hash_input
from corpusmill.transforms.news import check_checksums
from corpusmill.transforms.news.artefacts import Finding, Status
from corpusmill.transforms.news.check_checksums import (
    CheckChecksums,
    Comparison,
    StoredFile,
    check_artefact,
)
from tests.makers.sentence_builds import md5_of, write_table
from tests.tools.run_pipeline import run_pipeline

NAME = "training/news.en-00001-of-00100"
TEXT = "One .\nTwo – caf\u00e9 .\nThree .\n".encode()
OTHER = "One .\nTwo – cafe\u0301 .\nThree .\nFour .\n".encode()
PLACE = r"line 2: “Two \u2013 caf\xe9 .\n” in the build, “Two \u2013 cafe\u0301 .\n” in"


@dataclasses.dataclass
class Files:
    """Files of a build in the making."""

    folder: Path

    def compare(
        self,
        *written: bytes,
        listed: bytes = TEXT,
        found: bytes | None = None,
        reference: bytes | None = None,
        twin: bytes | None = None,
    ) -> Comparison:
        """Compares what was written, or is found in its place, with a list."""
        stored = []
        for number, content in enumerate(written):
            path = self.folder / f"part-{number}"
            path.write_bytes(content)
            stored.append(StoredFile(str(path), hash_input("", str(path)).sha256))
            if found is not None:
                path.write_bytes(found)
        references: tuple[str, ...] = ()
        twin_path = self.folder / "twin.parquet"
        if reference is not None:
            (self.folder / "reference").write_bytes(reference)
            references = (str(self.folder / "reference"),)
        if twin is not None:
            write_table(twin_path, twin)
        return Comparison(
            NAME, md5_of(listed), tuple(stored), references, str(twin_path) if twin else ""
        )


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return Files(tmp_path)


def sums(found: bytes, listed: bytes) -> str:
    return f"has the MD5 {md5_of(found)}, but {md5_of(listed)} in the list"


DAMAGE = "is not what the build wrote, according to the SHA-256 in its manifest"


@pytest.mark.parametrize("parts", [(TEXT,), (TEXT[:3], b"", TEXT[3:]), (TEXT, b"")])
def test_what_fits(files: Files, parts: tuple[bytes, ...]) -> None:
    assert check_artefact(files.compare(*parts)) == Finding(Status.EQUAL, NAME, md5_of(TEXT))


def test_the_order_of_parts_counts(files: Files) -> None:
    assert check_artefact(files.compare(TEXT[3:], TEXT[:3])).status == Status.DIFFERENT


def test_another_corpus(files: Files) -> None:
    asked = files.compare(TEXT, listed=OTHER, twin=TEXT)
    assert check_artefact(asked) == Finding(Status.DIFFERENT, NAME, sums(TEXT, OTHER))


def test_another_corpus_beside_the_reference(files: Files) -> None:
    asked = files.compare(TEXT[:10], TEXT[10:], listed=OTHER, reference=OTHER, twin=TEXT)
    assert check_artefact(asked) == Finding(
        Status.DIFFERENT,
        NAME,
        f"{sums(TEXT, OTHER)}; first difference: {PLACE} the reference",
    )


def test_a_reference_that_does_not_fit_the_list_either(files: Files) -> None:
    listed = b"Something else .\n"
    assert check_artefact(files.compare(TEXT, listed=listed, reference=TEXT)).detail == (
        f"{sums(TEXT, listed)}; equals the reference"
    )


def test_a_damaged_file_beside_the_build_s_own_parquet(files: Files) -> None:
    damaged = TEXT.replace(b"Three", b"Thre\xff")
    asked = files.compare(TEXT, found=damaged, twin=TEXT)
    assert check_artefact(asked) == Finding(
        Status.DAMAGED,
        NAME,
        f"{sums(damaged, TEXT)}; {DAMAGE}; first difference: line 3:"
        r" “Thre\xff .” in the build, “Three .” in the build"
        "'s own Parquet",
    )


def test_a_damaged_file_beside_the_reference(files: Files) -> None:
    asked = files.compare(TEXT, found=TEXT[:-9], reference=TEXT, twin=TEXT)
    found = check_artefact(asked)
    assert found.status == Status.DAMAGED
    assert found.detail.endswith(
        rf"{DAMAGE}; first difference: line 2: “Two \u2013 caf\xe9 .” in the build,"
        r" “Two \u2013 caf\xe9 .\n” in the reference"
    )


def test_a_file_that_only_the_manifest_does_not_know(files: Files) -> None:
    asked = files.compare(TEXT, listed=OTHER, twin=TEXT)
    unlisted = asked._replace(files=(asked.files[0]._replace(sha256=""),))
    assert check_artefact(unlisted) == Finding(
        Status.DAMAGED, NAME, f"{sums(TEXT, OTHER)}; {DAMAGE}; equals the build's own Parquet"
    )


def test_characters_that_only_perl_knows_are_no_damage(files: Files) -> None:
    written = TEXT.replace(b"One", b"One \xed\xa0\x80\xf4\x90\x80\x80")
    twin = TEXT.replace(b"One", "One \ufffd\ufffd".encode())
    damaged = written.replace(b"Three", b"Tree")
    found = check_artefact(files.compare(written, found=damaged, twin=twin))
    assert "first difference: line 3: “Tree .” in the build, “Three .” in" in found.detail


def test_a_damaged_parquet_file_is_no_end(files: Files) -> None:
    asked = files.compare(TEXT, found=OTHER, twin=TEXT)
    Path(asked.twin).write_bytes(b"PAR1")
    found = check_artefact(asked)
    assert found.status == Status.DAMAGED
    assert (
        f"the Parquet file with the same lines cannot be read either: {asked.twin}: not a"
        in found.detail
    )


@pytest.mark.parametrize("read_bytes", [1, 5, 1 << 20])
def test_how_files_are_cut_does_not_matter(
    files: Files, monkeypatch: pytest.MonkeyPatch, read_bytes: int
) -> None:
    damaged = TEXT.replace(b"Three .\n", b"Three")
    asked = files.compare(TEXT, found=damaged, twin=TEXT)
    expected = check_artefact(asked)
    monkeypatch.setattr(check_checksums, "READ_BYTES", read_bytes)
    assert check_artefact(asked) == expected
    assert "first difference: line 3: “Three” in the build, “Three .” in" in expected.detail


def test_many_files_and_what_is_counted(files: Files) -> None:
    asked = files.compare(TEXT[:5], TEXT[5:])
    several = [
        asked._replace(name="one"),
        asked._replace(name="two", md5="0" * 32),
        asked._replace(name="three"),
    ]
    outcome = run_pipeline(lambda root: {"found": root | CheckChecksums(several)})
    assert sorted((one.name, one.status) for one in outcome.elements["found"]) == [
        ("one", Status.EQUAL),
        ("three", Status.EQUAL),
        ("two", Status.DIFFERENT),
    ]
    assert outcome.counters == {
        "check-checksums/text_bytes": 3 * len(TEXT),
        "check-checksums/files": 6,
    }


def test_nothing_to_compare() -> None:
    assert run_pipeline(lambda root: {"found": root | CheckChecksums([])}).elements["found"] == []
