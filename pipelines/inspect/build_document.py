"""Finds a document of a finished build, and everything that the build says about it."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from corpusmill.transforms.files.builds.finished_builds import (
    Build,
    RowGroup,
    age_of,
    columns_of,
    find_folders,
    open_build,
    path_below,
    read_file,
    read_row_group,
    row_groups_of,
)
from corpusmill.transforms.files.builds.manifest import COMPLETED, is_name
from corpusmill.transforms.files.read_files import InputError, is_there
from corpusmill.transforms.files.records import TITLE_IN_TEXT, CorpusShape, Rejected
from corpusmill.transforms.wikipedia.article_accounts import RowSource
from corpusmill.transforms.wikitext.article_markers import START_ARTICLE, parse_article
from corpusmill.transforms.wikitext.wikis import code_of, dbname_of

from ..run.corpora import shape_of
from .html_report.facts import Facts, join_texts, read_facts, text_columns

_ID, _PAGE_ID, _VERSION_ID = "id", "page_id", "version_id"
_GUTENBERG = "https://www.gutenberg.org/ebooks/{}"
_TABLES = {
    "dates-": "book_id",
    "books-": "book_id",
    "audit/findings.tsv": "page_id",
}
"""Prefix of the name of a table in a build → the column that holds the document's id."""

_FINDINGS = "audit/findings.tsv"
_SHOWN = 200  # maximum number of characters of a value that are shown


class Origin(NamedTuple):
    """The information that a build has about one document."""

    fate: str  # "kept in train", "rejected"
    facts: list[tuple[str, str]]  # (name, value)
    text: str  # "" for rejected documents


def find_document(folder: str, identity: str) -> list[Origin]:
    """Returns everything that a build says about a document: one Origin for each of its rows or rejected
    records.

    Args:
      folder: The folder of a build, or a folder that has builds of one edition in its subfolders.
      identity: The id, page id or title of the document; in a corpus without ids, its whole text.

    Raises InputError if neither a row nor a rejected record matches.
    """
    build = build_in(folder)
    shape = shape_of(build.manifest)
    if not shape or not shape.texts:
        raise InputError(folder, f"a build of {build.corpus} contains no documents")
    facts = read_facts(build)
    if not (found := [*_kept(facts, shape, identity), *_rejected(facts, identity)]):
        known = shape.id or "text"
        raise InputError(folder, f"no document and no rejected record has the {known} {identity!r}")
    return found


def build_in(folder: str) -> Build:
    """Returns the build in a folder, or the newest of the builds in its subfolders.

    Raises InputError if these builds are of several corpora or editions.
    """
    if is_there(path_below(folder, COMPLETED)):
        return open_build(folder)
    builds = [open_build(one) for one in find_folders([folder]).finished]
    named = sorted({f"{build.corpus}/{build.edition}" for build in builds})
    if len(named) > 1:
        raise InputError(
            folder, f"contains builds of {', '.join(named)}: give the folder of one build"
        )
    return max(builds, key=age_of)


def _kept(facts: Facts, shape: CorpusShape, identity: str) -> Iterator[Origin]:
    """Yields an Origin for each row whose id is `identity`.

    If there is no such row, yields an Origin for each row whose title is `identity`.
    """
    by_id = list(_rows_with(facts, shape, identity, by_title=False))
    yield from by_id or _rows_with(facts, shape, identity, by_title=True)


def _rows_with(
    facts: Facts, shape: CorpusShape, identity: str, *, by_title: bool
) -> Iterator[Origin]:
    build = facts.build
    for output in sorted(build.manifest["outputs"], key=lambda one: str(one["name"])):
        if output["format"] != build.format or output["split"] not in shape.splits:
            continue
        file = build.file(output["name"], output["split"])
        if not (columns := _columns(file.path, shape, by_title=by_title)):
            continue
        first = 0
        for group in row_groups_of(file):
            table = read_row_group(group, columns).table
            for place in _places(table, columns, _identities(build, identity)):
                name = f"{output['name']}, row {first + place:,}"
                yield _origin(facts, shape, group, place, name)
            first += group.rows


def _identities(build: Build, identity: str) -> list[str]:
    """Returns the ids to search for: `identity` and, if it is a page id of Wikipedia, also an id such as
    "ukwiki:123".

    Articles without a Wikidata item have ids of this form.
    """
    is_page = build.corpus == "wiki40b" and identity.isdecimal()
    return [identity, f"{dbname_of(build.language)}:{identity}"] if is_page else [identity]


def _columns(path: str, shape: CorpusShape, *, by_title: bool) -> list[str]:
    there = columns_of(path)
    wanted: tuple[str, ...]
    if not by_title:
        wanted = (shape.id or shape.texts[0], _ID, _PAGE_ID)
    elif shape.title == TITLE_IN_TEXT:
        wanted = ("title",) if "title" in there else (shape.texts[0],)
    else:
        wanted = (shape.title,)
    return [name for name in dict.fromkeys(wanted) if name in there]


def _places(table: pa.Table, columns: Sequence[str], identities: Sequence[str]) -> list[int]:
    """Returns the indexes of the rows in which one of `columns` has one of the values `identities`.

    A row of Wiki-40B also matches if its column "text" begins with the line _START_ARTICLE_ and a line with
    the title `identities[0]`.
    """
    places: set[int] = set()
    for name in columns:
        column = table[name].cast("string")
        is_it = pc.is_in(column, pa.array(identities))
        if name == "text":
            is_it = pc.or_(is_it, pc.starts_with(column, f"\n{START_ARTICLE}\n{identities[0]}\n"))
        places.update(pc.indices_nonzero(pc.fill_null(is_it, False)).to_pylist())
    return sorted(places)


def _origin(facts: Facts, shape: CorpusShape, group: RowGroup, place: int, name: str) -> Origin:
    there = columns_of(group.file.path)
    texts = text_columns(there, shape)
    row = read_row_group(group, there).table.slice(place, 1).to_pylist()[0]
    text = join_texts(row, texts)
    title = parse_article(text)[0] if shape.title == TITLE_IN_TEXT else row.get(shape.title, "")
    hidden = {*shape.texts, *texts, "title", *(key for key, value in row.items() if value is None)}
    told = [
        ("build", facts.build.signature),
        ("file", name),
        *((("title", title),) if shape.title == TITLE_IN_TEXT else ()),
        *((key, _short(value)) for key, value in row.items() if key not in hidden),
        ("size", f"{len(text):,} characters"),
        *_addresses(facts.build, row, title),
        *_inputs(facts.build),
        *_of_tables(facts, str(row.get(shape.id, "")), title),
    ]
    return Origin(f"kept in {group.file.split}", [one for one in told if one[1]], text)


def _short(value: Any) -> str:
    text = " ".join(str(value).split())
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def _addresses(build: Build, row: dict[str, Any], title: str) -> Iterator[tuple[str, str]]:
    """Yields a pair (kind of page, address) for each web page about a document.

    The kind is "source" for the page from which the text was taken, "entity" for the Wikidata item of an
    article, and "page" for an article without an item. `row` is the row of the document in the build.
    """
    if build.corpus == "wiki40b" and "url" not in row:
        source = RowSource(build.language, dbname_of(build.language))
        yield "source", source.url(title, str(row[_VERSION_ID]))
        wiki, _, page = str(row["wikidata_id"]).partition(":")
        if page and is_name(wiki):
            yield "page", f"https://{code_of(wiki)}.wikipedia.org/?curid={page}"
        elif not page:
            yield "entity", f"https://www.wikidata.org/wiki/{row['wikidata_id']}"
    elif "book_id" in row:
        yield "source", _GUTENBERG.format(row["book_id"])


def _inputs(build: Build) -> Iterator[tuple[str, str]]:
    """Yields a pair such as ("input dump", names of the files) for each role of a build's input files.

    If more than 5 files have the role, the pair contains their number instead of their names.
    """
    inputs = build.manifest.get("inputs", [])
    for role in dict.fromkeys(one["role"] for one in inputs):
        names = [one["name"] for one in inputs if one["role"] == role]
        yield f"input {role}", ", ".join(names) if len(names) <= 5 else f"{len(names):,} files"


def _of_tables(facts: Facts, identity: str, title: str) -> Iterator[tuple[str, str]]:
    """Yields what the TSV files of a build say about the document with this id (`identity`) and title.

    There is a pair (file name, text of the row) for each row about the document. For a row of the audit, the
    pair is (class of the finding, wikitext), in which the class is written as "audit: <class>".
    """
    for start, column in _TABLES.items():
        for name in facts.names_of(start, ".tsv"):
            for row in facts.read_table(name):
                if name == _FINDINGS:
                    if row["title"] == title:
                        yield f"audit: {row['class']}", _short(row["source"])
                elif row.get(column) == identity:
                    values = (f"{key} {value}" for key, value in row.items() if value)
                    yield name, _short("; ".join(values))


def _rejected(facts: Facts, identity: str) -> Iterator[Origin]:
    build = facts.build
    for name in facts.rejected_names():
        for part in read_file(build.file(name), Rejected._fields):
            table = part.table
            for place in _places(table, ("id", "title"), [identity]):
                record = Rejected(*(table[column][place].as_py() for column in Rejected._fields))
                told = [
                    ("build", build.signature),
                    ("title", record.title),
                    ("id", record.id),
                    ("stage", record.stage),
                    ("reason", record.reason),
                    ("detail", _short(record.detail)),
                    *_inputs(build),
                    *_of_tables(facts, record.id, record.title),
                ]
                yield Origin("rejected", [one for one in told if one[1]], "")
