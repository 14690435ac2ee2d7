import bz2
import contextlib
import gzip
import lzma
import re
import tarfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import apache_beam as beam
import pytest

from corpusmill.transforms.books import read_catalog
from corpusmill.transforms.books.catalog import MAX_RDF_BYTES
from corpusmill.transforms.files.counters import LostBytes
from corpusmill.transforms.files.read_files import InputError
from corpusmill.transforms.files.records import Author, CatalogEntry, Rejected, ReleasedBook
from tests.makers.tar_files import pack_links, pack_tar
from tests.makers.zip_files import pack_zip
from tests.tools.real_data import DATA, needs_real_data
from tests.tools.run_pipeline import Outcome, run_pipeline

ENTRIES = [
    CatalogEntry(
        book_id=number,
        kind="Text",
        title=f"Title {number}, or Other",
        authors=(Author("Roe, Ann", 1797, 1800 + number),),
        languages=("en",),
        subjects=(f"Subject {number}",),
        bookshelves=("Shelf",),
    )
    for number in range(1, 41)
]
HEADER = "Text#,Type,Title,Language,Authors,Subjects,Bookshelves\n"


def row_of(entry: CatalogEntry) -> str:
    title = entry.title.replace(", ", ",\n")
    author = f"Roe, Ann, 1797-{entry.authors[0].death_year}"
    return f'{entry.book_id},Text,"{title}",en,"{author}",{entry.subjects[0]},Shelf\n'


def document_of(entry: CatalogEntry) -> bytes:
    return f"""<?xml version="1.0" encoding="utf-8"?>
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
  xmlns:d="http://purl.org/dc/terms/" xmlns:p="http://www.gutenberg.org/2009/pgterms/">
<p:ebook rdf:about="ebooks/{entry.book_id}"><d:title>{entry.title}</d:title>
<d:type><rdf:Description><rdf:value>Text</rdf:value></rdf:Description></d:type>
<d:language><rdf:Description><rdf:value>en</rdf:value></rdf:Description></d:language>
<d:subject><rdf:Description><rdf:value>{entry.subjects[0]}</rdf:value></rdf:Description></d:subject>
<p:bookshelf><rdf:Description><rdf:value>Shelf</rdf:value></rdf:Description></p:bookshelf>
<d:creator><p:agent><p:name>Roe, Ann</p:name><p:birthdate>1797</p:birthdate>
<p:deathdate>{entry.authors[0].death_year}</p:deathdate></p:agent></d:creator>
</p:ebook></rdf:RDF>
""".encode()


BOMB = b'<!DOCTYPE a [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>\n'
TABLE = (HEADER + "".join(map(row_of, ENTRIES))).encode()
DOCUMENTS = {f"cache/epub/{one.book_id}/pg{one.book_id}.rdf": document_of(one) for one in ENTRIES}


def tar_of(members: Mapping[str, bytes]) -> bytes:
    return pack_tar(members.items())


def zip_of(members: Mapping[str, bytes]) -> bytes:
    return pack_zip(members.items())


WITH_OTHERS = {"cache/README": b"<", **DOCUMENTS}  # beside a folder
TAR = tar_of(DOCUMENTS)
PACKED: dict[str, Callable[[], bytes]] = {
    "pg_catalog.csv": lambda: TABLE,
    "pg_catalog.csv.gz": lambda: gzip.compress(TABLE),
    "pg_catalog.csv.zip": lambda: zip_of({"pg_catalog.csv": TABLE}),
    "windows.csv": lambda: b"\xef\xbb\xbf" + TABLE.replace(b"\n", b"\r\n"),
    "rdf-files.tar": lambda: TAR,
    "rdf-files.tar.bz2": lambda: bz2.compress(TAR),
    "rdf-files.tar.xz": lambda: lzma.compress(TAR),
    "rdf-files.tar.zip": lambda: zip_of({"rdf-files.tar": TAR}),
    "rdf-files.tar.bz2.zip": lambda: zip_of({"rdf-files.tar.bz2": bz2.compress(TAR)}),
    "rdf-files.zip": lambda: zip_of(WITH_OTHERS),
    "others.tar": lambda: tar_of({"README": b"", **DOCUMENTS, "a.txt": b"x"}),
    "no-suffix": lambda: bz2.compress(TAR),
}


def read(
    paths: Sequence[Path], stripes: int = 1, on_corrupt: str = "fail"
) -> tuple[list[CatalogEntry], Outcome]:
    transform = read_catalog.ReadCatalog([str(path) for path in paths], stripes, on_corrupt)
    outcome = run_pipeline(lambda root: root | transform)
    return sorted(outcome.elements["entries"]), outcome


@pytest.mark.parametrize("name", PACKED)
def test_the_same_entries_however_they_are_packed(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(PACKED[name]())
    for stripes in (1, 3):
        units = read_catalog.plan_units([str(path)], stripes)
        found = [event for unit in units for event in read_catalog.read_unit(unit)]
        assert sorted(found) == ENTRIES
        assert len(units) == (1 if name.endswith("csv") or name.endswith("csv.gz") else stripes)


def test_files_of_both_kinds(tmp_path: Path) -> None:
    table = tmp_path / "pg_catalog.csv"
    table.write_text(HEADER + "".join(map(row_of, ENTRIES[:10])))
    archive = tmp_path / "rdf-files.tar.gz"
    archive.write_bytes(gzip.compress(tar_of(dict(list(DOCUMENTS.items())[10:-1]))))
    document = tmp_path / "pg40.rdf"
    document.write_bytes(document_of(ENTRIES[-1]))
    entries, outcome = read([table, archive, document], stripes=2)
    assert entries == ENTRIES
    assert outcome.elements["rejected"] == outcome.elements["lost"] == []
    assert outcome.counters == {"read-catalog/entries": 40}


def test_every_stripe_has_its_part(tmp_path: Path) -> None:
    path = tmp_path / "rdf-files.tar"
    path.write_bytes(TAR)
    parts = [list(read_catalog.read_unit(unit)) for unit in read_catalog.plan_units([str(path)], 3)]
    assert [len(part) for part in parts] == [14, 13, 13]


def test_bad_documents_are_rejected_by_name(tmp_path: Path) -> None:
    bad = {"cache/epub/DELETE-5/pg5.rdf": b"", "cache/epub/0/pg0.rdf": document_of(ENTRIES[0])[:-9]}
    big = {"big.rdf": b" " * (MAX_RDF_BYTES + 1)}
    path = tmp_path / "rdf-files.tar.gz"
    path.write_bytes(gzip.compress(tar_of({**bad, **DOCUMENTS, **big})))
    entries, outcome = read([path], stripes=2)
    assert entries == ENTRIES
    assert sorted(one[:4] for one in outcome.elements["rejected"]) == [
        (f"rdf-files.tar.gz/{name}", "", "read-catalog", "malformed-rdf")
        for name in sorted({**bad, **big})
    ]
    assert {one.detail for one in outcome.elements["rejected"]} >= {"more than 4,194,304 bytes"}
    assert outcome.counters == {"read-catalog/entries": 40, "read-catalog/malformed-rdf": 3}


BAD_DOCUMENTS = {
    "bomb.rdf": BOMB + document_of(ENTRIES[0]).partition(b"\n")[2],
    "cut.rdf": document_of(ENTRIES[1])[:-200],
    "utf-16.rdf": document_of(ENTRIES[2]).decode().encode("utf-16"),
    "utf-16-le.rdf": (BOMB + document_of(ENTRIES[3])).decode().encode("utf-16-le"),
    "empty.rdf": b"",
}


@pytest.mark.parametrize("on_corrupt", ["fail", "keep-good"])
@pytest.mark.parametrize("pack", [tar_of, zip_of])
def test_an_archive_of_bad_documents_alone_is_an_error(
    tmp_path: Path, pack: Callable[[Mapping[str, bytes]], bytes], on_corrupt: str
) -> None:
    path = tmp_path / "rdf-files"
    path.write_bytes(pack(BAD_DOCUMENTS))
    message = f"InputError: {path}: no entry can be read: rdf-files/bomb.rdf: found a DOCTYPE"
    with pytest.raises(Exception, match=re.escape(message)):
        read([path], 2, on_corrupt)


@pytest.mark.parametrize("pack", [tar_of, zip_of])
def test_each_bad_document_of_an_archive_is_rejected(
    tmp_path: Path, pack: Callable[[Mapping[str, bytes]], bytes]
) -> None:
    path = tmp_path / "rdf-files"
    path.write_bytes(pack({**BAD_DOCUMENTS, "5.rdf": document_of(ENTRIES[4])}))
    entries, outcome = read([path])
    assert entries == [ENTRIES[4]]
    rejected = sorted(one.id for one in outcome.elements["rejected"])
    assert rejected == sorted(f"rdf-files/{name}" for name in BAD_DOCUMENTS)


def test_a_device_in_the_place_of_a_document_is_rejected(tmp_path: Path) -> None:
    path = tmp_path / "a.tar"
    path.write_bytes(pack_links(DOCUMENTS.items(), [("41.rdf", tarfile.CHRTYPE, "")]))
    entries, outcome = read([path], stripes=2)
    assert entries == ENTRIES
    (rejected,) = outcome.elements["rejected"]
    assert (rejected.id, rejected.detail) == ("a.tar/41.rdf", "not-a-file a character device")


def test_a_bad_row(tmp_path: Path) -> None:
    path = tmp_path / "pg_catalog.csv"
    path.write_bytes(TABLE.replace(b"\n5,Text,", b"\nfive,Text,"))
    with pytest.raises(
        (InputError, RuntimeError), match=r"pg_catalog\.csv: line 10: Text# must be a positive"
    ):
        read([path])
    entries, outcome = read([path], on_corrupt="keep-good")
    assert entries == [entry for entry in ENTRIES if entry.book_id != 5]
    detail = "Text# must be a positive number, not 'five'"
    assert outcome.elements["rejected"] == [
        Rejected("pg_catalog.csv:10", "", "read-catalog", "malformed-row", detail)
    ]
    assert outcome.counters == {"read-catalog/entries": 39, "read-catalog/malformed-row": 1}


def cut_table() -> bytes:
    return TABLE[:-3]


def damaged_zip() -> bytes:
    data = bytearray(zip_of({"a.rdf": document_of(ENTRIES[0]), "rdf-files.tar": TAR}))
    data[data.index(b"rdf-files.tar") + 400] ^= 255
    return bytes(data)


@pytest.mark.parametrize(
    ("name", "content", "place", "message", "kept"),
    [
        (
            "a.csv",
            cut_table(),
            TABLE.rindex(b"or Other"),
            "line 81: the line has no line feed: the file is truncated",
            39,
        ),
        ("a.csv.gz", gzip.compress(TABLE)[:-5], None, "line 82: damaged or truncated: ", 40),
        ("a.tar", TAR[:-20_000], None, "the archive is truncated", None),
        ("a.tar.bz2", bz2.compress(TAR)[:-9], None, "the compressed archive is damaged", None),
        ("a.zip", zip_of(DOCUMENTS)[:-40], 0, "damaged or truncated: File is not a zip file", 0),
        ("b.zip", damaged_zip(), None, "damaged or truncated: ", 1),
    ],
)
def test_damage(
    tmp_path: Path, name: str, content: bytes, place: int | None, message: str, kept: int | None
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    said = rf"{name}(/rdf-files\.tar)?, byte \d+: {message}"
    with pytest.raises((InputError, RuntimeError), match=said):
        read([path], stripes=2)
    is_table = ".csv" in name
    with pytest.raises(InputError, match=said) if is_table else contextlib.nullcontext():
        read_catalog.check_tables([str(path)])
    entries, outcome = read([path], stripes=2, on_corrupt="keep-good")
    (lost,) = outcome.elements["lost"]
    assert isinstance(lost, LostBytes)
    assert lost.name.startswith(name)
    assert lost.message.startswith(message)
    assert lost.start == lost.end
    assert place is None or lost.start == place
    assert entries == ENTRIES[: len(entries)]
    assert kept is None or len(entries) == kept
    assert outcome.counters["read-catalog/damages"] == 1


def test_a_damaged_document_of_a_zip_is_lost_whoever_reads_it(tmp_path: Path) -> None:
    path = tmp_path / "rdf-files.zip"
    data = bytearray(zip_of(DOCUMENTS))
    start = data.index(b"cache/epub/2/pg2.rdf") - 30  # the header in front of the name
    data[start + 100] ^= 255
    path.write_bytes(data)
    for stripes in (1, 2):
        entries, outcome = read([path], stripes, "keep-good")
        assert entries == [entry for entry in ENTRIES if entry.book_id != 2]
        (lost,) = outcome.elements["lost"]
        assert lost.name == "rdf-files.zip/cache/epub/2/pg2.rdf"
        assert lost.start == start


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", b"", "the first line is not the header of the catalogue"),
        (
            "a.csv",
            b"id,title\n1,x\n",
            "the first line is not the header of the catalogue: expected one column Text#",
        ),
        ("a.csv", b"<!DOCTYPE html>\n<html></html>\n", "found a DOCTYPE, which is not allowed"),
        ("a.rdf", document_of(ENTRIES[0])[:-9], "not well-formed XML"),
        ("a.tar", tar_of({"a.txt": b"x"}), "the archive has no file *.rdf"),
        ("a.zip", zip_of({"a.txt": b"x"}), "the archive has no file *.rdf or *.tar"),
        ("a.zip", zip_of({"a.csv": b"x\n"}), "the first line is not the header of the catalogue"),
    ],
)
def test_no_catalog(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises((InputError, RuntimeError), match=re.escape(f"{path}: {message}")):
        read([path], on_corrupt="keep-good")


def test_a_line_without_end_is_not_read_into_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(read_catalog, "_MAX_LINE_BYTES", 1000)
    monkeypatch.setattr(read_catalog, "_READ_BYTES", 500)
    path = tmp_path / "a.csv"
    path.write_bytes(TABLE + b"x" * 5000 + b"\n")
    *entries, lost = read_catalog.read_unit(read_catalog.CatalogUnit(str(path), 0, 1))
    assert entries == ENTRIES
    assert lost == (
        "",
        len(TABLE),
        "line 82: the line has no line feed: the file is truncated, or not a table (bytes of the text)",
    )


@needs_real_data
def test_the_real_catalogue_is_cut_in_its_last_row() -> None:
    path = DATA / "gutenberg/pg_catalog.csv"
    (unit,) = read_catalog.plan_units([str(path)], 2)
    *entries, lost = read_catalog.read_unit(unit)
    assert len(entries) == 7659
    assert all(isinstance(entry, CatalogEntry) for entry in entries)
    data = path.read_bytes()
    message = (
        f"line {data.count(10) + 1}: the line has no line feed: the file is truncated, or not a table"
        " (bytes of the text)"
    )
    assert lost == read_catalog.DamagedCatalog("", data.rindex(b"\n") + 1, message)
    sample = DATA / "gutenberg/rdf-files-sample.tar.bz2"
    found = [
        event
        for unit in read_catalog.plan_units([str(sample)], 2)
        for event in read_catalog.read_unit(unit)
    ]
    numbers = [one.book_id for one in found if isinstance(one, CatalogEntry)]
    assert sorted(numbers) == [5, 2701, 14287, 23962, 30929, 50405]


BOOKS = [
    ReleasedBook(number, f"Title {number}", 1800 + number, f"x/{number}") for number in (7, 84)
]
LINES = "".join(f"{','.join(map(str, book))}\n" for book in BOOKS).encode()


def read_released(paths: list[Path]) -> Outcome:
    read = beam.FlatMap(read_catalog.read_released_books)
    return run_pipeline(lambda root: {"books": root | beam.Create(list(map(str, paths))) | read})


def test_books_of_files(tmp_path: Path) -> None:
    first, second = tmp_path / "metadata.csv", tmp_path / "more.gz"
    first.write_bytes(LINES[: LINES.index(b"\n") + 1])
    second.write_bytes(gzip.compress(LINES[LINES.index(b"\n") + 1 :]))
    outcome = read_released([first, second])
    assert sorted(outcome.elements["books"]) == BOOKS
    assert outcome.counters == {"read-released-books/books": 2}


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", LINES + b"9,T\n", "line 3: expected id,title,year,link"),
        ("a.csv", LINES[:-2], "line 2: expected id,title,year,link"),
        ("a.csv.gz", gzip.compress(LINES, mtime=0)[:-4], "damaged or truncated: "),
        ("a.csv.bz2", bz2.compress(LINES)[:-4], "damaged or truncated: "),
    ],
)
def test_errors_name_the_file_and_the_line(
    tmp_path: Path, name: str, content: bytes, message: str
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(InputError, match=re.escape(f"{path}: {message}")):
        list(read_catalog.read_released_books(str(path)))


def test_tables_of_splits(tmp_path: Path) -> None:
    path = tmp_path / "splits.tsv.gz"
    table = gzip.compress(b"book_id\tsplit\n84\ttest\n")
    path.write_bytes(table)
    assert read_catalog.read_split_table(str(path)) == {84: "test"}
    path.write_bytes(table[:-4])
    with pytest.raises(InputError, match=re.escape(f"{path}: damaged or truncated: ")):
        read_catalog.read_split_table(str(path))
    path.write_bytes(b"book_id,split\n84,held-out\n")
    with pytest.raises(InputError, match=re.escape(f"{path}: line 2: split is 'held-out'")):
        read_catalog.read_split_table(str(path))
