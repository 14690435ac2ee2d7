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
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple
from unittest import mock

import pyarrow as pa
import pyarrow.parquet as pq

from corpusmill.pipelines.run.stage_folders import stage_folders
from corpusmill.pipelines.sample_builds import SAMPLES
from corpusmill.pipelines.translation import journal, run_checks
from corpusmill.pipelines.translation.checks import check_language
from corpusmill.pipelines.translation.imports import import_files
from corpusmill.pipelines.translation.packet_files import find_layout, read_rows, write_quoted
from corpusmill.pipelines.translation.project import Rules, create_project
from corpusmill.pipelines.translation.reviews import import_reviews, write_sheets
from corpusmill.pipelines.translation.send_packets import send_packets
from corpusmill.pipelines.translation.target_languages import find_language
from corpusmill.transforms.files.records import Article, Finding, SourceSentence
from corpusmill.transforms.files.stage_files import _WriteElements, pack_type, write_list
from tests.makers.dump_files import PackedPage, _open_dump, _read_packed
from tests.makers.spm_models import small_model
from tests.makers.tar_files import pack_tar
from tests.makers.zip_files import pack_zip
from tests.pipelines.translation.small_projects import small_sentences

GOLDEN = pathlib.Path(__file__).parents[1] / "golden"
(UKRAINIAN,) = (GOLDEN / "wiki40b" / "uk").glob("*-*")
TIME = "2026-01-02T03:04:05Z"
_REAL_PAGES = 16
_PAGES_PER_STREAM = 4
_LINES = 400

_CATALOG_ROW = re.compile(rb"^[0-9]+,Text,", re.MULTILINE)

Files = Mapping[str, bytes]


class Sample(NamedTuple):
    """Files that are read together. Names may have folders."""

    name: str
    files: Files
    damaged: Sequence[str]  # those of them that are damaged, the first stands for the sample


def all_of(name: str, files: Files) -> Sample:
    """A sample any file of which may be damaged."""
    return Sample(name, files, tuple(files))


def one(path: pathlib.Path, name: str = "") -> Sample:
    """A sample of a single file."""
    return all_of(path.name, {name or path.name: path.read_bytes()})


# Dumps of wikis.


def dumps(data: pathlib.Path | None) -> Iterator[Sample]:
    """Dumps of Wikipedia in all packings; a multistream one with its index."""
    for wiki in ("ukwiki", "enwiki"):
        folder = SAMPLES / "wikipedia" / wiki
        stem = f"{wiki}-20260101-pages-articles-multistream"
        names = (f"{stem}.xml.bz2", f"{stem}-index.txt.bz2")
        yield all_of(wiki, {name: (folder / name).read_bytes() for name in names})
    if not data:
        return
    for wiki, source in (
        ("elwiki", "elwiki-20230501-pages-articles-multistream.xml.bz2"),
        ("viwiki", "viwiki-20230501-pages-articles-multistream.xml.bz2"),
        ("enwiki", "enwiki-latest-pages-articles1.xml-p000000010p000030302-shortened.bz2"),
    ):
        streams, index = _real_dump(data / "wikipedia" / source)
        text = b"".join(streams)
        stem = f"{wiki}-20230501-pages-articles"
        packed = list(map(bz2.compress, streams))
        places = list(itertools.accumulate(map(len, packed), initial=0))
        listed = "".join(f"{places[at]}:{page.page_id}:{page.title}\n" for at, page in index)
        yield all_of(
            f"{wiki}-multistream",
            {
                f"{stem}-multistream.xml.bz2": b"".join(packed),
                f"{stem}-multistream-index.txt.bz2": bz2.compress(listed.encode()),
            },
        )
        yield all_of(f"{wiki}-bz2", {f"{stem}.xml.bz2": bz2.compress(text)})
        yield all_of(f"{wiki}-gz", {f"{stem}.xml.gz": gzip.compress(text, 1, mtime=0)})
        yield all_of(f"{wiki}-xz", {f"{stem}.xml.xz": lzma.compress(text, preset=0)})
        yield all_of(f"{wiki}-plain", {f"{stem}.xml": text})


def _real_dump(path: pathlib.Path) -> tuple[list[bytes], list[tuple[int, PackedPage]]]:
    """The head and the first small pages of a dump as streams, and which page is in which."""
    with _open_dump(path) as stream:
        head = stream.read(1 << 16).partition(b"  <page>")[0]
    small = (page for page in _read_packed(path) if len(page.xml) < 30_000)
    pages = list(itertools.islice(small, _REAL_PAGES))
    runs = _runs(pages)
    streams = [head, *(b"".join(page.xml for page in run) for run in runs), b"</mediawiki>\n"]
    return streams, [(at, page) for at, run in enumerate(runs, 1) for page in run]


def _runs(pages: Sequence[PackedPage]) -> list[Sequence[PackedPage]]:
    places = range(0, len(pages), _PAGES_PER_STREAM)
    return [pages[place : place + _PAGES_PER_STREAM] for place in places]


def sister_dumps(_: pathlib.Path | None) -> Iterator[Sample]:
    """Dumps of Wikinews, Wikibooks and Wikivoyage, from which sentences are drawn."""
    for site in ("wikinews", "wikibooks", "wikivoyage"):
        folder = SAMPLES / "wikimedia" / f"en{site}"
        yield one(folder / f"en{site}-20260101-pages-articles-multistream.xml.bz2")


def sql_tables(data: pathlib.Path | None) -> Iterator[Sample]:
    """SQL dumps of the three tables."""
    for wiki in ("enwiki", "ukwiki"):
        yield one(SAMPLES / "wikipedia" / wiki / f"{wiki}-20260101-page_props.sql.gz")
    if not data:
        return
    for name in ("enwiki-sample-page_props", "elwiki-sample-page_props"):
        yield one(data / "wikidata" / f"{name}.sql.gz")
    for name in (
        *("rmwiki-20240301-page_props", "rmwiki-20240301-page", "loginwiki-20240501-page"),
        *("itwikibooks-20240301-page", "wikidatawiki-20240401-page"),
    ):
        yield one(data / "wikidata" / "verbatim" / f"{name}.sql.gz")
    name = "wikidatawiki-sample-wb_items_per_site.sql"
    text = gzip.decompress((data / "wikidata" / f"{name}.gz").read_bytes())
    cut = text[: text.index(b"),", 60_000)] + b");\n"
    yield all_of("items", {f"{name}.gz": gzip.compress(cut, 1, mtime=0)})
    yield all_of("items-plain", {name: cut})


def entity_dumps(data: pathlib.Path | None) -> Iterator[Sample]:
    """Dumps of Wikidata in all packings."""
    yield one(SAMPLES / "wikidata" / "wikidata-20260101-all.json.gz")
    if not data:
        return
    folder = data / "wikidata"
    yield one(folder / "verbatim" / "twenty_entities.json.bz2")
    yield one(folder / "mock" / "mock-dump-with-bugs.json")
    text = gzip.decompress((folder / "wikidata-sample-all.json.gz").read_bytes())
    small = [line for line in text.splitlines(keepends=True) if len(line) < 20_000][:12]
    cut = b"".join(small).rstrip(b",\n") + b"\n]\n"
    yield all_of("real-plain", {"wikidata-20230501-all.json": cut})
    yield all_of("real-bz2", {"wikidata-20230501-all.json.bz2": bz2.compress(cut)})
    yield all_of("real-xz", {"wikidata-20230501-all.json.xz": lzma.compress(cut, preset=0)})


# Lines and books.


def news(data: pathlib.Path | None) -> Iterator[Sample]:
    """Lines of news, plain and packed, and archives of them."""
    for path in sorted((SAMPLES / "news").glob("news.*")):
        yield one(path)
    yield one(SAMPLES / "news" / "training-monolingual.tgz")
    if not data:
        return
    name = "news.2011.en.shuffled"
    lines = gzip.decompress((data / "news" / f"{name}.gz").read_bytes()).split(b"\n")[:_LINES]
    text = b"\n".join(lines) + b"\n"
    packed = gzip.compress(text, 1, mtime=0)
    yield all_of("real-plain", {name: text})
    yield all_of("real-gz", {f"{name}.gz": packed})
    yield all_of("real-bz2", {f"{name}.bz2": bz2.compress(text)})
    yield all_of("real-xz", {f"{name}.xz": lzma.compress(text, preset=0)})
    members = [(f"training/{name}", text), (f"training/{name}.gz", packed)]
    yield all_of("real-tar", {"news.tar": pack_tar(members)})
    yield all_of("real-tar-xz", {"news.tar.xz": lzma.compress(pack_tar(members), preset=0)})


def books(data: pathlib.Path | None) -> Iterator[Sample]:
    """Books in several encodings, a web page, and archives of books."""
    library = SAMPLES / "gutenberg" / "library"
    for path in sorted(library.rglob("*.*")):
        if path.name != "90032.txt":  # it is no book
            yield one(path)
    if not data:
        return
    folder = data / "gutenberg"
    small = sorted((folder / "books").glob("*.txt*.gz"), key=lambda path: path.stat().st_size)[:40]
    for path in small[::5]:
        yield one(path)
    texts = [(path.name[:-3], gzip.decompress(path.read_bytes())) for path in small[1:4]]
    page = (folder / "oddities" / "404-page-saved-as-book.txt.gz").read_bytes()
    yield all_of("real-zip", {"books.zip": pack_zip([*texts, ("404.txt.gz", page)])})
    yield all_of("real-tar", {"books.tar": pack_tar(texts)})
    yield all_of("real-tar-bz2", {"books.tar.bz2": bz2.compress(pack_tar(texts))})
    nested = pack_zip([("books.tar", pack_tar(texts)), ("more.zip", pack_zip(texts[:1]))])
    yield all_of("real-nested", {"all.zip": nested})


def catalogs(data: pathlib.Path | None) -> Iterator[Sample]:
    """Catalogues of Project Gutenberg: tables, documents of RDF, archives of these."""
    folder = SAMPLES / "gutenberg"
    yield one(folder / "pg_catalog.csv")
    yield one(folder / "rdf-files.tar.bz2")
    if not data:
        return
    real = data / "gutenberg"
    archive = (real / "rdf-files-sample.tar.bz2").read_bytes()
    yield all_of("real-rdf-tar-bz2", {"rdf-files.tar.bz2": archive})
    tar = bz2.decompress(archive)
    yield all_of("real-rdf-tar", {"rdf-files.tar": tar})
    start = tar.index(b"<?xml")
    document = tar[start : tar.index(b"</rdf:RDF>", start) + 11]
    yield all_of("real-rdf", {"pg5.rdf": document})
    yield all_of("real-rdf-zip", {"rdf-files.zip": pack_zip([("pg5.rdf", document)])})
    yield all_of("real-tar-zip", {"rdf-files.tar.zip": pack_zip([("rdf-files.tar", tar)])})
    table = (real / "pg_catalog.csv").read_bytes()
    (*_, end) = (row.start() for row in _CATALOG_ROW.finditer(table, 0, 40_000))
    cut = table[:end]
    yield all_of("real-csv", {"pg_catalog.csv": cut})
    yield all_of("real-csv-gz", {"pg_catalog.csv.gz": gzip.compress(cut, 1, mtime=0)})


# Tables of people.


def book_tables(data: pathlib.Path | None) -> Iterator[Sample]:
    """metadata.csv of PG-19, tables of splits, lists of words."""
    folder = SAMPLES / "gutenberg"
    yield one(folder / "metadata.csv")
    yield one(folder / "offensive-words.txt")
    splits = b"book_id\tsplit\n" + b"".join(b"%d\ttrain\n" % book for book in range(1, 300))
    yield all_of("splits", {"splits.tsv": splits})
    yield all_of(
        "splits-gz", {"splits.csv.gz": gzip.compress(splits.replace(b"\t", b","), 1, mtime=0)}
    )
    if data:
        lines = (data / "gutenberg" / "metadata.csv").read_bytes().splitlines(keepends=True)
        yield all_of("real-metadata", {"metadata.csv": b"".join(lines[:_LINES])})


def pins(_: pathlib.Path | None) -> Iterator[Sample]:
    """Pinned splits as TSV, CSV and Parquet, and as a finished build."""
    rows = [(f"Q{number}", ("train", "validation", "test")[number % 3]) for number in range(1, 400)]
    for suffix, sign in ((".tsv", "\t"), (".csv", ",")):
        lines = [sign.join(row) for row in (("wikidata_id", "split"), *rows)]
        text = "\n".join([*lines, ""]).encode()
        yield all_of(suffix, {f"pins{suffix}": text})
        yield all_of(f"{suffix}.xz", {f"pins{suffix}.xz": lzma.compress(text, preset=0)})
    table = pa.table({"wikidata_id": [row[0] for row in rows], "split": [row[1] for row in rows]})
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, row_group_size=100)
    yield all_of(".parquet", {"pins.parquet": sink.getvalue().to_pybytes()})
    files = _folder(UKRAINIAN)
    yield Sample("build", files, tuple(name for name in files if name.endswith(".parquet")))


def settings(_: pathlib.Path | None) -> Iterator[Sample]:
    """TOML: templates of a language, refresh.toml."""
    yield all_of(
        "templates",
        {
            "mine.toml": b'silent_templates = ["Note to editors"]\ndropped_headings = ["Read on"]\n\n'
            b'[templates]\n"Distance" = "{1:number} km[ ({2})]"\n"Dist" = "@Distance"\n'
            b'"How far" = "=convert"\n'
        },
    )
    yield one(SAMPLES / "refresh" / "refresh.toml")


# Translation.


def _small_project(folder: pathlib.Path, data: pathlib.Path | None) -> None:
    """A project that has come as far as a verdict in French, and is sent in Ukrainian."""
    sentences = _real_sentences(data) if data else small_sentences()
    project = create_project(str(folder), Rules(review_share=Fraction(1, 2)), sentences)
    languages = [find_language("fra"), find_language("ukr")]
    send_packets(project, languages)
    answers = _real_texts(data, "fra", len(sentences)) if data else []
    texts = dict(zip(project.ids, answers, strict=False))
    sheet = next(project.journal("fra").glob("*/*.tsv")).read_text("utf-8")
    header, *rows = sheet.splitlines()
    answered = [_with_target(row, texts) for row in rows]
    back = folder.parent / "back.tsv"
    back.write_text("\n".join([header, *answered, ""]), "utf-8")
    import_files(project, [str(back)])
    check_language(project, languages[0])
    write_sheets(project, languages[:1])
    review = next(project.journal("fra").glob("*/*-review-*.tsv")).read_text("utf-8")
    path = folder.parent / "reviewed.tsv"
    path.write_text(_reviewed(review), "utf-8")
    import_reviews(project, [str(path)])


def _warn(sources: Sequence[SourceSentence], *_: object) -> list[Finding]:
    """A check that finds no error, so that reviewers get sheets."""
    return [
        Finding(one.id, "ending-differs", "warning", "told", "back.tsv", 2) for one in sources[:3]
    ]


def _with_target(row: str, texts: Mapping[str, str]) -> str:
    fields = row.split("\t")
    text = texts.get(fields[0].strip('"'), f"Une phrase traduite, {fields[0].strip(chr(34))}.")
    fields[6] = '"' + text.replace('"', '""') + '"'
    return "\t".join(fields)


def _reviewed(sheet: str) -> str:
    text = sheet.removeprefix("\ufeff")
    layout = find_layout(text.partition("\n")[0])
    rows = [dict(row) for _, row in read_rows(text, layout)]
    for row in rows:
        row["category"], row["reviewer"] = "ok", "Ann"
    rows[0]["category"], rows[0]["severity"] = "grammar", "minor"
    return write_quoted(layout.columns, (list(row.values()) for row in rows))


def _real_texts(data: pathlib.Path, code: str, count: int) -> list[str]:
    path = data / "flores" / "flores101_dataset" / "devtest" / f"{code}.devtest"
    return path.read_text("utf-8").split("\n")[:count]


def _real_sentences(data: pathlib.Path, count: int = 24) -> list[SourceSentence]:
    texts = _real_texts(data, "eng", count)
    return [
        SourceSentence(
            id=f"devtest-{place:04}",
            split="devtest",
            article="wikinews:1",
            text=text,
            url="https://en.wikinews.org/wiki/A",
            domain="wikinews",
            topic="nature",
            has_image=False,
            has_hyperlink=False,
        )
        for place, text in enumerate(texts, 1)
    ]


@functools.cache
def _projects(data: pathlib.Path | None) -> Sequence[tuple[str, Files]]:
    """Name → files, of projects and of what came back to them."""
    found = []
    for name, real in (("small", None), *([("real", data)] if data else [])):
        with (
            tempfile.TemporaryDirectory() as place,
            mock.patch.object(journal, "now", return_value=TIME),
            mock.patch.object(journal, "user", return_value="ann"),
            mock.patch.object(run_checks, "check_translations", _warn),
        ):
            _small_project(pathlib.Path(place, "project"), real)
            found.append((name, _folder(pathlib.Path(place))))
    return found


def projects(data: pathlib.Path | None) -> Iterator[Sample]:
    """Folders of translation projects."""
    for name, files in _projects(data):
        inside = {path: content for path, content in files.items() if path.startswith("project/")}
        yield all_of(name, inside)


def packets(data: pathlib.Path | None) -> Iterator[Sample]:
    """Yields files that translators send back: XLIFF, tables, line-aligned files."""
    for name, files in _projects(data):
        inside = {path: content for path, content in files.items() if path.startswith("project/")}
        sent = next(path for path in inside if path.endswith("fra-round1.xlf"))
        split = "devtest"
        table = files["back.tsv"]
        texts = [row.split(b"\t")[6].strip(b'"') for row in table.splitlines()[1:]]
        targets = iter(texts)
        xliff = b"".join(
            line
            + b"\n"
            + (
                b"<target>%b</target>\n" % next(targets).replace(b"&", b"&amp;")
                if line.startswith(b"<source>")
                else b""
            )
            for line in inside[sent].splitlines()
        )
        lines = [row for row in table.splitlines()[1:] if row.startswith(b'"' + split.encode())]
        plain = b"".join(row.split(b"\t")[6].strip(b'"') + b"\n" for row in lines)
        comma = table.replace(b'"\t"', b'","')
        for own, content in (
            *(("fra.xlf", xliff), ("fra.tsv", table), ("fra.csv", comma), (f"fra.{split}", plain)),
            ("fra.txt", table.decode("utf-8-sig").encode("utf-16")),
        ):
            yield Sample(f"{name}-{own}", {own: content, **inside}, (own,))


def reviews(data: pathlib.Path | None) -> Iterator[Sample]:
    """Sheets that reviewers send back, and tables of waivers."""
    for name, files in _projects(data):
        inside = {path: content for path, content in files.items() if path.startswith("project/")}
        yield Sample(
            f"{name}-sheet", {"sheet.tsv": files["reviewed.tsv"], **inside}, ("sheet.tsv",)
        )
        findings = next(
            content for path, content in inside.items() if path.endswith("findings.tsv")
        )
        header, *rows = findings.splitlines()
        waived = b"\n".join([header + b"\tbecause", *(row + b"\tright" for row in rows), b""])
        yield Sample(f"{name}-waivers", {"waivers.tsv": waived, **inside}, ("waivers.tsv",))


def sources(data: pathlib.Path | None) -> Iterator[Sample]:
    """Sentences to translate: source.tsv, a release; and tables of topics."""
    (golden,) = (GOLDEN / "flores101" / "en-sentences-150-articles-42").glob("2*")
    yield all_of("source", {"source.tsv": (golden / "source.tsv").read_bytes()})
    yield all_of("topics", {"topics.tsv": (golden / "source.tsv").read_bytes()})
    yield all_of(
        "topics-gz",
        {"topics.tsv.gz": gzip.compress((golden / "source.tsv").read_bytes(), 1, mtime=0)},
    )
    if data:
        release = data / "flores" / "flores101_dataset"
        text = "\n".join([*_real_texts(data, "eng", 50), ""]).encode()
        table = b"".join((release / "metedata_devtest.tsv").read_bytes().splitlines(True)[:51])
        files = {"release/devtest/eng.devtest": text, "release/metadata_devtest.tsv": table}
        yield all_of("release", files)


def scored(data: pathlib.Path | None) -> Iterator[Sample]:
    """Translations, a reference, metadata, a SentencePiece model; log-likelihoods of a language model."""
    lines = [f"A line with the number {number}, and a few words." for number in range(30)]
    text = "\n".join([*(_real_texts(data, "eng", 30) if data else lines), ""]).encode()
    other = "\n".join([*(_real_texts(data, "fra", 30) if data else lines), ""]).encode()
    table = "domain\ttopic\n" + "wikinews\tnature\nwikibooks\tsports\n" * 15
    files = {
        "spm.model": small_model(),
        "reference.devtest": text,
        "hypothesis.devtest": other,
        "metadata.tsv": table.encode(),
    }
    yield all_of("spbleu", files)
    yield all_of("spbleu-gz", {**files, "hypothesis.devtest": gzip.compress(other, 1, mtime=0)})


# What corpusmill has written itself.


def _folder(folder: pathlib.Path) -> dict[str, bytes]:
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


def builds(_: pathlib.Path | None) -> Iterator[Sample]:
    """Finished builds, of each corpus whose documents are reported."""
    for mark in sorted(GOLDEN.rglob("COMPLETED")):
        files = _folder(mark.parent)
        if json.loads(files["manifest.json"]).get("counts", {}).get("kept"):
            kinds = {pathlib.PurePath(name).suffix or name: name for name in files}
            damaged = sorted({*kinds.values(), "manifest.json", "stats.json"})
            yield Sample(mark.parent.relative_to(GOLDEN).as_posix(), files, damaged)


def entity_tables(_: pathlib.Path | None) -> Iterator[Sample]:
    """The finished table of entities."""
    yield all_of("entities", _folder(next((GOLDEN / "entities" / "wikidata").glob("2*"))))


def checksum_lists(_: pathlib.Path | None) -> Iterator[Sample]:
    """A list of MD5 sums beside the build that it is of."""
    (mark,) = (GOLDEN / "lm1b").rglob("COMPLETED")
    files = {f"build/{name}": content for name, content in _folder(mark.parent).items()}
    listed = files["build/md5sums"]
    text = next(name for name in sorted(files) if "/heldout-monolingual" in name)
    yield Sample("md5sums", {"list.md5": listed, **files}, ("list.md5", text))


def log_likelihoods(_: pathlib.Path | None) -> Iterator[Sample]:
    """Log-likelihoods of the documents of a build, one a line."""
    files = _folder(UKRAINIAN)
    documents = range(json.loads(files["stats.json"])["test"]["articles"])
    build = {f"build/{name}": content for name, content in files.items()}
    rows = ({"document": number, "log_likelihood": -812.25} for number in documents)
    scores = "".join(f"{json.dumps(row)}\n" for row in rows).encode()
    yield Sample("plain", {"scores.txt": scores, **build}, ("scores.txt",))
    packed = gzip.compress(scores, 1, mtime=0)
    yield Sample("gz", {"scores.txt.gz": packed, **build}, ("scores.txt.gz",))


def stages(_: pathlib.Path | None) -> Iterator[Sample]:
    """Yields the files that one stage of a build has left for the next."""
    with (
        tempfile.TemporaryDirectory() as place,
        mock.patch.object(uuid, "uuid4", side_effect=map(_uuid, itertools.count())),
        stage_folders(f"{place}/build") as folders,
    ):
        folders.open(())
        folder = folders.begin("clean")
        written = []
        for field, elements in (("numbers", range(500)), ("articles", [_article(3), _article(4)])):
            writer = _WriteElements(folder, field)
            writer.start_bundle()
            for element in elements:
                writer.process(element)
            written += [one.value for one in writer.finish_bundle()]
        types = {"numbers": pack_type(int), "articles": pack_type(Article)}
        write_list(folder, types, written)
        folders.finish(folder, {"pages": 2})
        files = _folder(pathlib.Path(place))
    yield all_of("stage", files)


def _uuid(number: int) -> uuid.UUID:
    return uuid.UUID(int=number)


def _article(number: int) -> Article:
    return Article(number, f"Title {number}", "7", f"Text {number}. " * 200)


def refresh_states(_: pathlib.Path | None) -> Iterator[Sample]:
    """Yields the files of a refresh: its state, notes of downloads, CURRENT."""
    state = {
        "edition_folder": "wiki40b/uk",
        "current": "20261101-1.3.0",
        "signature": "wiki40b|lang:uk|dump:20261101|v:1.3.0",
        "settings": {"vocabulary_size": 0},
        "last_run": 1700000000.0,
        "last_success": 1700000000.0,
        "failures": 2,
        "error": "",
        "downloaded_bytes": 12345,
        "seconds": {"download": 1.5, "build": 20.0},
        "documents": {"added": 1, "removed": 2},
        "rejected": {"20261101-1.2.0": "moved"},
    }
    note = {
        "url": "https://dumps.example.org/a.bz2",
        "etag": '"abc"',
        "last_modified": "Mon, 23 Nov 2026 10:00:00 GMT",
        "checksum": "sha1:" + "0" * 40,
        "size": 10,
    }
    yield all_of("state", {"wiki40b-uk.json": json.dumps(state, indent=1).encode()})
    files = _folder(UKRAINIAN)
    edition = {f"{UKRAINIAN.name}/{name}": content for name, content in files.items()}
    yield Sample("current", {"CURRENT": f"{UKRAINIAN.name}\n".encode(), **edition}, ("CURRENT",))
    yield all_of(
        "note", {".a.bz2.json": json.dumps(note, indent=1).encode(), "a.bz2.part": b"BZh9123"}
    )


def dump_folders(_: pathlib.Path | None) -> Iterator[Sample]:
    """A folder as the dump server has it, with dumpstatus.json."""
    names = [
        "ukwiki-20261101-pages-articles-multistream.xml.bz2",
        "ukwiki-20261101-page_props.sql.gz",
        "ukwiki-20261101-page.sql.gz",
    ]
    jobs = ("articlesmultistreamdump", "pagepropstable", "pagetable")
    status = {
        "version": "0.8",
        "jobs": {
            job: {
                "status": "done",
                "updated": "2026-11-03 10:00:00",
                "files": {
                    name: {
                        "size": 100,
                        "url": f"/ukwiki/20261101/{name}",
                        "sha1": "0" * 40,
                        "md5": "0" * 32,
                    }
                },
            }
            for job, name in zip(jobs, names, strict=True)
        },
    }
    files = {f"ukwiki/20261101/{name}": b"x" * 100 for name in names}
    place = "ukwiki/20261101/dumpstatus.json"
    yield Sample("folder", {place: json.dumps(status).encode(), **files}, (place,))


def mirror_pages(_: pathlib.Path | None) -> Iterator[Sample]:
    """Yields the answers of a mirror: listings, dumpstatus.json, checksums, headers."""
    ((_, files, _),) = dump_folders(None)
    status = files["ukwiki/20261101/dumpstatus.json"]
    listing = b'<html><body><a href="../">..</a><a href="20261101/">20261101/</a></body></html>'
    headers = json.dumps(
        {"Content-Length": "100", "Last-Modified": "Mon, 02 Nov 2026 10:00:00 GMT"}
    )
    yield all_of("wiki", {"listing.html": listing, "dumpstatus.json": status})
    sums = b"%b  wikidata-20261102-all.json.bz2\n" % (b"0123456789" * 4)
    page = b'<a href="wikidata-20261102-sha1sums.txt">sums</a>'
    yield all_of(
        "entities",
        {
            "listing.html": listing,
            "folder.html": page,
            "sums.txt": sums,
            "headers.json": headers.encode(),
        },
    )
    news_page = b"".join(
        b'<a href="news.%d.en.shuffled.deduped.gz">a</a>' % year for year in (2024, 2025)
    )
    yield all_of("news", {"listing.html": news_page, "headers.json": headers.encode()})
