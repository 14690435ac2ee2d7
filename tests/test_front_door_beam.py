"""Pipelines that are made of `corpusmill.beam` alone."""

import gzip
import hashlib
import pathlib
from collections.abc import Callable
from pathlib import Path

import apache_beam as beam
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from apache_beam.testing.util import assert_that, equal_to, is_not_empty

import corpusmill
import corpusmill.beam as mill

SAMPLES = Path(corpusmill.__file__).parent / "pipelines" / "samples"
ENGLISH = SAMPLES / "wikipedia" / "enwiki"
DUMP = ENGLISH / "enwiki-20260101-pages-articles-multistream.xml.bz2"
LIBRARY = SAMPLES / "gutenberg" / "library"
CATALOG = SAMPLES / "gutenberg" / "pg_catalog.csv"
NEWS = SAMPLES / "news" / "news.2007.en.shuffled.gz"

SCHEMA = pa.schema({"wikidata_id": pa.string(), "text": pa.string(), "version_id": pa.string()})


def write(wiki: str, folder: Path, scratch: Path, entities: Path) -> None:
    """The pipeline of a Wikipedia, of public transforms alone."""
    language = wiki.removesuffix("wiki")
    start = SAMPLES / "wikipedia" / wiki / f"{wiki}-20260101-"
    dump, properties = f"{start}pages-articles-multistream.xml.bz2", f"{start}page_props.sql.gz"
    with beam.Pipeline() as pipeline:
        pages = (pipeline | mill.ReadWikipediaDump(dump, namespaces=[0, 10])).pages
        templates = pages | mill.ReadTemplates(language, dump, entities=entities)
        clean = mill.CleanWikitext(language, dump=dump, templates=templates, scratch=scratch)
        articles = (pages | mill.SelectArticles(language)).kept
        join = mill.JoinWikidata(language, page_props=properties, entities=entities)
        linked = ((articles | clean).kept | join).kept
        rows = linked | beam.Map(mill.LinkedArticle._asdict)
        _ = rows | mill.WriteRows(folder, SCHEMA, key="wikidata_id", name="wiki")


@pytest.mark.parametrize("wiki", ["enwiki", "jawiki", "ukwiki"])
def test_wikipedia(wiki: str, demo: Path, tmp_path: Path) -> None:
    """The rows are those of the build of the demo, in the same order."""
    (entities,) = (demo / "entities").glob("*/*")
    write(wiki, tmp_path / "rows", tmp_path / "scratch", entities)
    for split in ("train", "validation", "test"):
        written = pq.read_table(tmp_path / "rows" / f"{split}-00000-of-00001.parquet")
        assert written.schema.names == SCHEMA.names
        assert (tmp_path / "rows" / f"wiki-{split}.tfrecord-00000-of-00001").exists()
        build = demo / "wiki40b" / wiki.removesuffix("wiki")
        built = corpusmill.load(build, split).to_table().to_pylist()
        assert written.to_pylist() == built
    assert "_START_PARAGRAPH_" in built[0]["text"]


def test_pages_and_articles() -> None:
    with beam.Pipeline() as pipeline:
        pages = (pipeline | mill.ReadWikipediaDump([DUMP], namespaces=[0])).pages
        others = pages | "Others" >> beam.Filter(lambda page: page.namespace != 0)
        assert_that(others, equal_to([]))
        selected = pages | mill.SelectArticles("en")
        redirects = selected.rejected | "Redirects" >> beam.Filter(
            lambda one: one.reason == "redirect"
        )
        assert_that(redirects, is_not_empty(), label="redirects")
        cleaned = selected.kept | mill.CleanWikitext("en", min_words=5)
        unlinked = (cleaned.kept | mill.JoinWikidata("en")).kept
        of_pi = unlinked | "Pi" >> beam.Filter(lambda one: one.title == "Pi")
        ids = of_pi | "Ids" >> beam.Map(lambda one: one.wikidata_id)
        assert_that(ids, equal_to(["enwiki:25"]), label="ids")


def test_books(tmp_path: Path) -> None:
    with beam.Pipeline() as pipeline:
        read = pipeline | mill.ReadBooks(LIBRARY, tmp_path / "scratch", catalog=CATALOG)
        stripped = read.books | mill.StripBooks()
        texts = stripped.kept | beam.Map(lambda book: "Project Gutenberg" in book.text)
        assert_that(texts | beam.Distinct(), equal_to([False]))
        assert_that(stripped.rejected, is_not_empty(), label="rejected")
        titles = stripped.kept | beam.Filter(lambda book: book.book_id == 90001)
        kinds = titles | beam.Map(
            lambda book: [type(book).__name__, type(book.authors[0]).__name__]
        )
        assert_that(kinds, equal_to([["BookText", "Author"]]), label="kinds")


def test_news() -> None:
    lines = list(map(corpusmill.tokenize_news, read_lines()))
    with beam.Pipeline() as pipeline:
        read = pipeline | mill.ReadNews(str(NEWS))
        assert_that(read.lines | mill.TokenizeNews("en"), equal_to(lines))


def read_lines() -> list[str]:
    content = gzip.decompress(NEWS.read_bytes())
    return [line.decode() for line in content.removesuffix(b"\n").split(b"\n") if is_utf8(line)]


def is_utf8(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True


STORY = (
    "The ferry leaves the old harbour at nine, and comes back at noon on every day but Sunday. " * 3
)
ITEM = "Which of the two bridges over the river Henn was built by the monks of Ostrel Abbey?"


def test_near_duplicates_and_contamination(tmp_path: Path) -> None:
    documents = [("a", STORY), ("b", f"{STORY.upper()} Yes."), ("c", f"Page 1. {ITEM} Yes.")]
    with beam.Pipeline() as pipeline:
        texts = pipeline | beam.Create(documents)
        drop = mill.DropNearDuplicates(
            tmp_path / "s", key=lambda one: one[0], text=lambda one: one[1]
        )
        different = texts | drop
        assert_that(different.kept | beam.Keys(), equal_to(["b", "c"]))
        rejected = different.rejected | beam.Map(lambda one: (one.id, one.reason))
        assert_that(rejected, equal_to([("a", "near-duplicate")]), label="rejected")
        found = texts | mill.FindContamination(["", ITEM])
        assert_that(
            found, equal_to([mill.ContaminatedText("c", 1, 17, 8, 91, ITEM[:-1])]), label="found"
        )
        assert_that(
            texts | "None" >> mill.FindContamination([]), equal_to([]), label="found nothing"
        )


def test_rows_of_a_build_are_written_again(demo: Path, tmp_path: Path) -> None:
    (build,) = (demo / "wiki40b" / "en").glob("2*")
    schema = pa.schema({"id": pa.string(), "n": pa.int64(), "fold": pa.string()})
    with beam.Pipeline() as pipeline:
        rows = pipeline | mill.ReadBuild(build, ["wikidata_id", "text"], split_column="fold")
        short = rows | beam.Map(
            lambda row: {"id": row["wikidata_id"], "n": len(row["text"]), "fold": row["fold"]}
        )
        files = short | mill.WriteRows(tmp_path, schema, key="id", split="fold")
        _ = files | beam.Map(check_file, str(tmp_path))
    for split in ("train", "validation", "test"):
        written = pq.read_table(tmp_path / f"{split}-00000-of-00001.parquet").to_pylist()
        built = corpusmill.load(build, split).to_table().to_pylist()
        assert [(row["id"], row["n"], row["fold"]) for row in written] == [
            (row["wikidata_id"], len(row["text"]), split) for row in built
        ]


def check_file(file: mill.OutputFile, folder: str) -> None:
    content = pathlib.Path(folder, file.name).read_bytes()
    assert (file.bytes, file.sha256) == (len(content), hashlib.sha256(content).hexdigest())


BAD: list[tuple[Callable[[], object], str]] = [
    (lambda: mill.ReadWikipediaDump("absent.xml"), "absent.xml"),
    (lambda: mill.ReadWikipediaDump(NEWS), "expected <mediawiki>"),
    (lambda: mill.ReadWikipediaDump([]), "paths must be"),
    (lambda: mill.ReadWikipediaDump(b"dump.xml"), "paths must be"),  # type: ignore[arg-type]
    (lambda: mill.ReadWikipediaDump(DUMP, on_corrupt="ignore"), "ignore"),
    (lambda: mill.ReadTemplates("xx", DUMP), "no such language"),
    (lambda: mill.ReadTemplates("en", NEWS), "expected <mediawiki>"),
    (lambda: mill.SelectArticles("xx"), "no such language"),
    (lambda: mill.CleanWikitext("english"), "no such language"),
    (lambda: mill.CleanWikitext("en", dump="absent"), "absent"),
    (lambda: mill.CleanWikitext("en", templates=object()), "scratch must be a path"),
    (lambda: mill.JoinWikidata("xx"), "no such language"),
    (lambda: mill.JoinWikidata("en", page_props="absent"), "absent"),
    (lambda: mill.JoinWikidata("en", entities="absent"), "absent"),
    (lambda: mill.ReadBooks("absent.zip", "scratch"), "absent.zip"),
    (lambda: mill.ReadBooks(LIBRARY, ""), "scratch must be a path"),
    (lambda: mill.ReadBooks(LIBRARY, "s", on_corrupt="ignore"), "ignore"),
    (lambda: mill.ReadBooks(LIBRARY, "s", workers=0), "workers must be positive, not 0"),
    (lambda: mill.ReadNews("absent.gz"), "absent.gz"),
    (lambda: mill.TokenizeNews("english"), "no language has the code"),
    (lambda: mill.TokenizeNews(perl="4"), "4"),
    (lambda: mill.DropNearDuplicates("s", key=str, text=str, similarity=1.5), "similarity must be"),
    (lambda: mill.FindContamination("one text"), "several texts"),
    (lambda: mill.ReadBuild("absent", ["text"]), "absent"),
    (lambda: mill.WriteRows("f", SCHEMA, key="id", splits=["../x"]), "plain names"),
    (lambda: mill.WriteRows("f", SCHEMA, key="id", shard_bytes=0), "shard_bytes"),
    (lambda: mill.WriteRows("f", pa.schema({"a": pa.float64()}), key="a"), "schema must be"),
]


@pytest.mark.parametrize(("make", "message"), BAD)
def test_bad_arguments(make: Callable[[], object], message: str) -> None:
    with pytest.raises(corpusmill.CorpusmillError, match=message):
        make()


def test_build_without_the_column(demo: Path) -> None:
    (build,) = (demo / "wiki40b" / "en").glob("2*")
    with pytest.raises(corpusmill.CorpusmillError, match="no column 'words'"):
        mill.ReadBuild(build, ["words"])
    with pytest.raises(corpusmill.CorpusmillError, match="no such split"):
        mill.ReadBuild(build, ["text"], splits=["dev"])


def test_names_are_there() -> None:
    assert mill.__all__ == sorted(mill.__all__)
    public = [getattr(mill, name) for name in mill.__all__]
    assert all(one.__doc__ for one in public)
    transforms = [one for one in public if issubclass(one, beam.PTransform)]
    assert len(transforms) == 13
    assert all(one.__module__ == "corpusmill.beam" and "→" in one.__doc__ for one in transforms)
