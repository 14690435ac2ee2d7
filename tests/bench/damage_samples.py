"""Small sample files of every kind of input: the bundled samples, and pieces of real files."""

import bz2
import functools
import gzip
import itertools
import json
import lzma
import pathlib
import re
import tempfile
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple
from unittest import mock

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from corpusmill.pipelines.run.run_stages import stage_folders
from corpusmill.pipelines.sample_builds import SAMPLES
from corpusmill.pipelines.translation import journal
from corpusmill.transforms.files.records import Article, Finding, Translation
from corpusmill.transforms.files.stage_files import _WriteElements, pack_type, write_list
from tests.makers.dump_files import _open_dump, _pack_streams, _split_pages, repeat_pages
from tests.makers.spm_models import small_model
from tests.makers.tar_files import pack_tar
from tests.makers.zip_files import pack_zip
from tests.pipelines.refresh.dump_server import DumpServer
from tests.pipelines.translation.offices import Office
from tests.pipelines.translation.small_projects import TIME, source_file, use_checks
from tests.tools.golden_tree import GOLDEN, tree_of

(UKRAINIAN,) = (GOLDEN / "wiki40b" / "uk").glob("*-*")
_REAL_PAGES = 16
_PAGES_PER_STREAM = 4

_CATALOG_ROW = re.compile(rb"^[0-9]+,Text,", re.MULTILINE)

Files = Mapping[str, bytes]


class Sample(NamedTuple):
    """Files that are read together. Names may have folders."""

    name: str
    files: Files
    damaged: Sequence[str]  # those of them that are damaged, the first stands for the sample


def all_of(files: Files, label: str = "") -> Sample:
    """A sample any file of which may be damaged."""
    return Sample(label + next(iter(files)), files, tuple(files))


def write_files(folder: pathlib.Path, files: Files) -> None:
    """Writes the files of a sample below a folder."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def each(folder: pathlib.Path, *patterns: str) -> Iterator[Sample]:
    """A sample for each file that has one of the names in a folder."""
    for pattern in patterns:
        for path in sorted(folder.glob(pattern)):
            yield all_of({path.name: path.read_bytes()})


_PACK: Mapping[str, Callable[[bytes], bytes]] = {
    "": bytes,
    ".gz": functools.partial(gzip.compress, compresslevel=1, mtime=0),
    ".bz2": bz2.compress,
    ".xz": functools.partial(lzma.compress, preset=0),
}


def packed(name: str, content: bytes, label: str = "") -> Iterator[Sample]:
    """A file as it is, and compressed in three ways."""
    for suffix, pack in _PACK.items():
        yield all_of({f"{name}{suffix}": pack(content)}, label)


# Dumps of wikis.


def dumps(data: pathlib.Path | None) -> Iterator[Sample]:
    """Dumps of Wikipedia in all packings; a multistream one with its index."""
    for wiki in ("ukwiki", "enwiki"):
        paths = sorted((SAMPLES / "wikipedia" / wiki).glob("*.bz2"), reverse=True)
        yield all_of({path.name: path.read_bytes() for path in paths})
    if not data:
        return
    for wiki, source in (
        ("elwiki", "elwiki-20230501-pages-articles-multistream.xml.bz2"),
        ("viwiki", "viwiki-20230501-pages-articles-multistream.xml.bz2"),
        ("enwiki", "enwiki-latest-pages-articles1.xml-p000000010p000030302-shortened.bz2"),
    ):
        stem = f"{wiki}-20230501-pages-articles"
        multistream, text = _real_dump(data / "wikipedia" / source, stem)
        yield all_of(multistream, "real ")
        yield from packed(f"{stem}.xml", text)


def _real_dump(path: pathlib.Path, stem: str) -> tuple[Files, bytes]:
    """The first small pages of a dump: as multistream dump with its index, and as XML."""
    names = (f"{stem}-multistream.xml.bz2", f"{stem}-multistream-index.txt.bz2")
    with _open_dump(path) as stream:
        head = next(_split_pages(stream))
    small = (page for page in repeat_pages(path, 1) if len(page.xml) < 30_000)
    with tempfile.TemporaryDirectory() as folder:
        xml, index = (pathlib.Path(folder, name) for name in names)
        _pack_streams(xml, index, head, itertools.islice(small, _REAL_PAGES), _PAGES_PER_STREAM)
        files = {path.name: path.read_bytes() for path in (xml, index)}
    return files, bz2.decompress(files[names[0]])


def sister_dumps(_: pathlib.Path | None) -> Iterator[Sample]:
    """Dumps of Wikinews, Wikibooks and Wikivoyage, from which sentences are drawn."""
    yield from each(SAMPLES / "wikimedia", "*/*-multistream.xml.bz2")


def sql_tables(data: pathlib.Path | None) -> Iterator[Sample]:
    """SQL dumps of the three tables."""
    tables = ("page_props.sql.gz", "page.sql.gz")
    yield from each(SAMPLES / "wikipedia", "*/*-page_props.sql.gz")
    if data:
        yield from each(data / "wikidata", *(f"**/*-{name}" for name in tables))
        name = "wikidatawiki-sample-wb_items_per_site.sql"
        text = gzip.decompress((data / "wikidata" / f"{name}.gz").read_bytes())
        cut = text[: text.index(b"),", 60_000)] + b");\n"
        yield from packed(name, cut)


def entity_dumps(data: pathlib.Path | None) -> Iterator[Sample]:
    """Dumps of Wikidata in all packings."""
    yield from each(SAMPLES / "wikidata", "wikidata-20260101-all.json.gz")
    if data:
        folder = data / "wikidata"
        yield from each(
            folder, "verbatim/twenty_entities.json.bz2", "mock/mock-dump-with-bugs.json"
        )
        text = gzip.decompress((folder / "wikidata-sample-all.json.gz").read_bytes())
        small = [line for line in text.splitlines(keepends=True) if len(line) < 20_000][:12]
        cut = b"".join(small).rstrip(b",\n") + b"\n]\n"
        yield from packed("wikidata-20230501-all.json", cut)


# Lines and books.


def news(data: pathlib.Path | None) -> Iterator[Sample]:
    """Lines of news, plain and packed, and archives of them."""
    yield from each(SAMPLES / "news", "news.*", "training-monolingual.tgz")
    if data:
        name = "news.2011.en.shuffled"
        text = b"".join(_lines(gzip.decompress((data / "news" / f"{name}.gz").read_bytes())))
        yield from packed(name, text, "real ")
        members = [(f"training/{name}", text), (f"training/{name}.gz", _PACK[".gz"](text))]
        yield from packed("news.tar", pack_tar(members))


def _lines(text: bytes, count: int = 400) -> list[bytes]:
    return text.splitlines(keepends=True)[:count]


def books(data: pathlib.Path | None) -> Iterator[Sample]:
    """Books in several encodings, a web page, and archives of books."""
    for sample in each(SAMPLES / "gutenberg" / "library", "**/*.*"):
        if sample.name != "90032.txt":  # it is no book
            yield sample
    if not data:
        return
    folder = data / "gutenberg"
    small = sorted((folder / "books").glob("*.txt*.gz"), key=lambda path: path.stat().st_size)[:40]
    yield from each(folder / "books", *(path.name for path in small[::5]))
    texts = [(path.name[:-3], gzip.decompress(path.read_bytes())) for path in small[1:4]]
    page = (folder / "oddities" / "404-page-saved-as-book.txt.gz").read_bytes()
    yield all_of({"books.zip": pack_zip([*texts, ("404.txt.gz", page)])})
    yield from packed("books.tar", pack_tar(texts))
    nested = pack_zip([("books.tar", pack_tar(texts)), ("more.zip", pack_zip(texts[:1]))])
    yield all_of({"all.zip": nested})


def catalogs(data: pathlib.Path | None) -> Iterator[Sample]:
    """Catalogues of Project Gutenberg: tables, documents of RDF, archives of these."""
    names = ("pg_catalog.csv", "rdf-files.tar.bz2")
    yield from each(SAMPLES / "gutenberg", *names)
    if not data:
        return
    table, archive = (
        (data / "gutenberg" / name).read_bytes() for name in (names[0], "rdf-files-sample.tar.bz2")
    )
    tar = bz2.decompress(archive)
    start = tar.index(b"<?xml")
    document = tar[start : tar.index(b"</rdf:RDF>", start) + 11]
    (*_, end) = (row.start() for row in _CATALOG_ROW.finditer(table, 0, 40_000))
    yield all_of({names[1]: archive}, "real ")
    yield all_of({"rdf-files.tar": tar})
    yield all_of({"pg5.rdf": document})
    yield all_of({"rdf-files.zip": pack_zip([("pg5.rdf", document)])})
    yield all_of({"rdf-files.tar.zip": pack_zip([("rdf-files.tar", tar)])})
    yield from packed(names[0], table[:end], "real ")


# Tables of people.


def book_tables(data: pathlib.Path | None) -> Iterator[Sample]:
    """metadata.csv of PG-19, tables of splits, lists of words."""
    yield from each(SAMPLES / "gutenberg", "metadata.csv", "offensive-words.txt")
    splits = b"book_id\tsplit\n" + b"".join(b"%d\ttrain\n" % book for book in range(1, 300))
    yield all_of({"splits.tsv": splits})
    yield all_of({"splits.csv.gz": _PACK[".gz"](splits.replace(b"\t", b","))})
    if data:
        lines = _lines((data / "gutenberg" / "metadata.csv").read_bytes())
        yield all_of({"metadata.csv": b"".join(lines)}, "real ")


def pins(_: pathlib.Path | None) -> Iterator[Sample]:
    """Pinned splits as TSV, CSV and Parquet, and as a finished build."""
    rows = [(f"Q{number}", ("train", "validation", "test")[number % 3]) for number in range(1, 400)]
    for suffix, sign in ((".tsv", "\t"), (".csv", ",")):
        lines = [sign.join(row) for row in (("wikidata_id", "split"), *rows)]
        text = "\n".join([*lines, ""]).encode()
        yield all_of({f"pins{suffix}": text})
        yield all_of({f"pins{suffix}.xz": _PACK[".xz"](text)})
    table = pa.table({"wikidata_id": [row[0] for row in rows], "split": [row[1] for row in rows]})
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, row_group_size=100)
    yield all_of({"pins.parquet": sink.getvalue().to_pybytes()})
    files = tree_of(UKRAINIAN)
    yield Sample("build", files, tuple(name for name in files if name.endswith(".parquet")))


def settings(_: pathlib.Path | None) -> Iterator[Sample]:
    """TOML: templates of a language, refresh.toml."""
    templates = (
        b'silent_templates = ["Note to editors"]\ndropped_headings = ["Read on"]\n\n'
        b'[templates]\n"Distance" = "{1:number} km[ ({2})]"\n"Dist" = "@Distance"\n'
        b'"How far" = "=convert"\n'
    )
    yield all_of({"mine.toml": templates})
    yield from each(SAMPLES / "refresh", "refresh.toml")


# Translation.


class Project(NamedTuple):
    """A translation project, and what came back to it."""

    name: str
    files: Files  # of its folder, with their names in it
    table: bytes  # translations
    sheet: bytes  # a review


@functools.cache
def _projects(data: pathlib.Path | None) -> Sequence[Project]:
    return [_project("small", None), *([_project("real", data)] if data else [])]


def _project(name: str, data: pathlib.Path | None) -> Project:
    """A project that has come as far as a verdict in French, and is sent in Ukrainian."""
    with tempfile.TemporaryDirectory() as place, pytest.MonkeyPatch.context() as patch:
        patch.setattr(journal, "now", lambda: TIME)
        patch.setattr(journal, "user", lambda: "ann")
        use_checks(patch, _warn)
        office = Office(pathlib.Path(place))
        source = office.folder / "release" if data else source_file(office.folder)
        if data:
            write_files(office.folder, _release(data, 24))
        office.do("packets", "--languages", "fra,ukr", "--source", source, "--review-share", "1/2")
        ids = office.project.ids
        answers = _real_texts(data, "fra", len(ids)) if data else map("Une phrase, {}.".format, ids)
        table = office.translate(dict(zip(ids, answers, strict=True)))
        office.do("import", table)
        office.do("check", "--languages", "fra")
        office.do("review", "--sheets", "--languages", "fra")
        sheet = office.review(dict.fromkeys(ids[::3], ("grammar", "minor")), "Ann")
        office.do("review", "--import", sheet)
        files = tree_of(office.project_folder)
        return Project(name, _below("project", files), table.read_bytes(), sheet.read_bytes())


def _warn(translations: Mapping[str, Translation]) -> list[Finding]:
    """Findings that are no errors, so that reviewers get sheets."""
    some = list(translations)[:3]
    return [Finding(one, "ending-differs", "warning", "told", "back.tsv", 2) for one in some]


def _real_texts(data: pathlib.Path, code: str, count: int) -> list[str]:
    path = data / "flores" / "flores101_dataset" / "devtest" / f"{code}.devtest"
    return path.read_text("utf-8").split("\n")[:count]


def _release(data: pathlib.Path, count: int) -> Files:
    """The first sentences of a release, as a release."""
    text = "\n".join([*_real_texts(data, "eng", count), ""]).encode()
    table = data / "flores" / "flores101_dataset" / "metedata_devtest.tsv"
    metadata = b"".join(_lines(table.read_bytes(), count + 1))
    return {"release/devtest/eng.devtest": text, "release/metadata_devtest.tsv": metadata}


def projects(data: pathlib.Path | None) -> Iterator[Sample]:
    """Folders of translation projects."""
    for project in _projects(data):
        yield Sample(project.name, project.files, tuple(project.files))


def packets(data: pathlib.Path | None) -> Iterator[Sample]:
    """Yields files that translators send back: XLIFF, tables, line-aligned files."""
    for project in _projects(data):
        rows = project.table.splitlines()[1:]
        targets = [row.split(b"\t")[6].strip(b'"') for row in rows]
        (sent,) = (path for path in project.files if path.endswith("fra-round1.xlf"))
        lines = (
            text + b"\n" for row, text in zip(rows, targets, strict=True) if b'"devtest-' in row
        )
        own = {
            "fra.xlf": _answered(project.files[sent], iter(targets)),
            "fra.tsv": project.table,
            "fra.csv": project.table.replace(b'"\t"', b'","'),
            "fra.devtest": b"".join(lines),
            "fra.txt": project.table.decode("utf-8-sig").encode("utf-16"),
        }
        for name, content in own.items():
            yield _in_project(project, name, content)


def _answered(xliff: bytes, targets: Iterator[bytes]) -> bytes:
    def answer(source: re.Match[bytes]) -> bytes:
        return source[0] + b"<target>%b</target>\n" % next(targets).replace(b"&", b"&amp;")

    return re.sub(rb"(?m)^<source>.*\n", answer, xliff)


def _in_project(project: Project, name: str, content: bytes) -> Sample:
    return Sample(f"{project.name}-{name}", {name: content, **project.files}, (name,))


def reviews(data: pathlib.Path | None) -> Iterator[Sample]:
    """Sheets that reviewers send back, and tables of waivers."""
    for project in _projects(data):
        yield _in_project(project, "sheet.tsv", project.sheet)
        (findings,) = (name for name in project.files if name.endswith("findings.tsv"))
        header, *rows = project.files[findings].splitlines()
        waived = b"\n".join([header + b"\tbecause", *(row + b"\tright" for row in rows), b""])
        yield _in_project(project, "waivers.tsv", waived)


def sources(data: pathlib.Path | None) -> Iterator[Sample]:
    """Sentences to translate: source.tsv, a release; and tables of topics."""
    (source,) = (GOLDEN / "flores101" / "en-sentences-150-articles-42").glob("2*/source.tsv")
    yield from each(source.parent, source.name)
    yield from packed("topics.tsv", source.read_bytes())
    if data:
        yield all_of(_release(data, 50))


def scored(data: pathlib.Path | None) -> Iterator[Sample]:
    """Translations, a reference, metadata, a SentencePiece model; log-likelihoods of a language model."""
    lines = [f"A line with the number {number}, and a few words." for number in range(30)]
    reference, hypothesis = (
        "\n".join([*(_real_texts(data, code, 30) if data else lines), ""]).encode()
        for code in ("eng", "fra")
    )
    files = {
        "spm.model": small_model(),
        "reference.devtest": reference,
        "hypothesis.devtest": hypothesis,
        "metadata.tsv": b"domain\ttopic\n" + b"wikinews\tnature\nwikibooks\tsports\n" * 15,
    }
    yield all_of(files)
    yield all_of({**files, "hypothesis.devtest": _PACK[".gz"](hypothesis)}, "packed ")


# What corpusmill has written itself.


def _below(folder: str, files: Files) -> Files:
    return {f"{folder}/{name}": content for name, content in files.items()}


def builds(_: pathlib.Path | None) -> Iterator[Sample]:
    """Finished builds, of each corpus whose documents are reported."""
    for mark in sorted(GOLDEN.rglob("COMPLETED")):
        files = tree_of(mark.parent)
        if json.loads(files["manifest.json"]).get("counts", {}).get("kept"):
            kinds = {pathlib.PurePath(name).suffix or name: name for name in files}
            damaged = sorted({*kinds.values(), "manifest.json", "stats.json"})
            yield Sample(mark.parent.relative_to(GOLDEN).as_posix(), files, damaged)


def entity_tables(_: pathlib.Path | None) -> Iterator[Sample]:
    """The finished table of entities."""
    yield all_of(tree_of(next((GOLDEN / "entities" / "wikidata").glob("2*"))))


def checksum_lists(_: pathlib.Path | None) -> Iterator[Sample]:
    """A list of MD5 sums beside the build that it is of."""
    (mark,) = (GOLDEN / "lm1b").rglob("COMPLETED")
    files = _below("build", tree_of(mark.parent))
    text = next(name for name in sorted(files) if "/heldout-monolingual" in name)
    listed = {"list.md5": files["build/md5sums"]}
    yield Sample("md5sums", {**listed, **files}, ("list.md5", text))


def log_likelihoods(_: pathlib.Path | None) -> Iterator[Sample]:
    """Log-likelihoods of the documents of a build, one a line."""
    files = tree_of(UKRAINIAN)
    documents = range(json.loads(files["stats.json"])["test"]["articles"])
    rows = ({"document": number, "log_likelihood": -812.25} for number in documents)
    scores = "".join(f"{json.dumps(row)}\n" for row in rows).encode()
    for suffix in ("", ".gz"):
        name = f"scores.txt{suffix}"
        yield Sample(name, {name: _PACK[suffix](scores), **_below("build", files)}, (name,))


def stages(_: pathlib.Path | None) -> Iterator[Sample]:
    """Yields the files that one stage of a build has left for the next."""
    ids = (uuid.UUID(int=number) for number in itertools.count())
    articles = [Article(page, f"Title {page}", "7", f"Text {page}. " * 200) for page in (3, 4)]
    with (
        tempfile.TemporaryDirectory() as place,
        mock.patch.object(uuid, "uuid4", side_effect=ids),
        stage_folders(f"{place}/build") as folders,
    ):
        folders.open(())
        folder = folders.begin("clean")
        written = []
        for field, elements in (("numbers", range(500)), ("articles", articles)):
            writer = _WriteElements(folder, field)
            writer.start_bundle()
            for element in elements:
                writer.process(element)
            written += [one.value for one in writer.finish_bundle()]
        types = {"numbers": pack_type(int), "articles": pack_type(Article)}
        write_list(folder, types, written)
        folders.finish(folder, {"pages": 2})
        yield all_of(tree_of(pathlib.Path(place)))


STATE = b"""{
 "edition_folder": "wiki40b/uk", "current": "20261101-1.3.0",
 "signature": "wiki40b|lang:uk|dump:20261101|v:1.3.0", "settings": {"vocabulary_size": 0},
 "last_run": 1700000000.0, "last_success": 1700000000.0, "failures": 2, "error": "",
 "downloaded_bytes": 12345, "seconds": {"download": 1.5, "build": 20.0},
 "documents": {"added": 1, "removed": 2}, "rejected": {"20261101-1.2.0": "moved"}
}
"""
NOTE = b"""{
 "url": "https://dumps.example.org/a.bz2", "etag": "\\"abc\\"", "size": 10,
 "last_modified": "Mon, 23 Nov 2026 10:00:00 GMT",
 "checksum": "sha1:0000000000000000000000000000000000000000"
}
"""
HEADERS = b'{"Content-Length": "100", "Last-Modified": "Mon, 02 Nov 2026 10:00:00 GMT"}'


def refresh_states(_: pathlib.Path | None) -> Iterator[Sample]:
    """Yields the files of a refresh: its state, notes of downloads, CURRENT."""
    yield all_of({"wiki40b-uk.json": STATE})
    current = {"CURRENT": f"{UKRAINIAN.name}\n".encode()}
    edition = _below(UKRAINIAN.name, tree_of(UKRAINIAN))
    yield Sample("current", {**current, **edition}, ("CURRENT",))
    yield all_of({".a.bz2.json": NOTE, "a.bz2.part": b"BZh9123"})


def dump_folders(_: pathlib.Path | None) -> Iterator[Sample]:
    """A folder as the dump server has it, with dumpstatus.json."""
    names = ("pages-articles-multistream.xml.bz2", "page_props.sql.gz", "page.sql.gz")
    with DumpServer() as site:
        site.add_wiki(
            "ukwiki", "20261101", {f"ukwiki-20261101-{name}": b"x" * 100 for name in names}
        )
        files = {path[1:]: file.content for path, file in site.files.items()}
    yield Sample("folder", files, ("ukwiki/20261101/dumpstatus.json",))


def mirror_pages(_: pathlib.Path | None) -> Iterator[Sample]:
    """Yields the answers of a mirror: listings, dumpstatus.json, checksums, headers."""
    (folder,) = dump_folders(None)
    status = folder.files[folder.damaged[0]]
    listing = b'<html><body><a href="../">..</a><a href="20261101/">20261101/</a></body></html>'
    yield all_of({"listing.html": listing, "dumpstatus.json": status})
    entities = {
        "folder.html": b'<a href="wikidata-20261102-sha1sums.txt">sums</a>',
        "sums.txt": b"%b  wikidata-20261102-all.json.bz2\n" % (b"0123456789" * 4),
    }
    yield all_of({"listing.html": listing, **entities, "headers.json": HEADERS}, "entities ")
    link = '<a href="news.{}.en.shuffled.deduped.gz">a</a>'
    years = "".join(map(link.format, (2024, 2025))).encode()
    yield all_of({"listing.html": years, "headers.json": HEADERS}, "news ")
