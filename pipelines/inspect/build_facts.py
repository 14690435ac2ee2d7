"""Reads the facts about a build from which charts are made: manifest, counts and small tables.

Formats numbers, shares and sizes for people.

Chooses the documents and rejected records that the report displays as examples from a build.

The choice is random but repeatable: it depends on hashes. Only a part of a large build is read.

Finds a document of a finished build, and everything that the build says about it.
"""

import bisect
import csv
import heapq
import io
import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import quote, unquote

import pyarrow as pa
import pyarrow.compute as pc

from corpusmill.transforms.files.builds.dataset_card import read_about
from corpusmill.transforms.files.builds.finished_builds import (
    Build,
    CorpusFile,
    RowGroup,
    columns_of,
    path_below,
    read_card,
    read_file,
    read_json,
    read_row_group,
    row_groups_of,
)
from corpusmill.transforms.files.builds.manifest import is_name
from corpusmill.transforms.files.markup import unprotect
from corpusmill.transforms.files.read_files import InputError, open_input
from corpusmill.transforms.files.records import TITLE_IN_TEXT, CorpusShape, Rejected
from corpusmill.transforms.files.terminal import shorten
from corpusmill.transforms.files.text import fingerprint, grouped
from corpusmill.transforms.wikipedia.article_accounts import RowSource
from corpusmill.transforms.wikitext.article_markers import START_ARTICLE, parse_article
from corpusmill.transforms.wikitext.wikis import code_of, dbname_of

from ..run.corpora import row_of_build, shape_of
from ..run.editions import choose_build
from .build_sizes import STATS, counts_are_read


def share(part: float, whole: float) -> str:
    """Returns `part` as a percentage of `whole`, such as "27.6 %", with a no-break space.

    Returns "–" if `whole` is 0.
    """
    if not whole:
        return "–"
    value = 100 * part / whole
    if 99.95 <= value < 100:
        return ">\u00a099.9\u00a0%"
    digits = ".0f" if value >= 100 else ".2g" if value < 1 else ".1f"
    return f"{value:{digits}}\u00a0%"


READ = "_read"
"""The names of counts of input records end with this suffix, as in "pages_read"."""

LEFT_OUT = {
    "duplicates": "repeated",
    "near_duplicates": "near-duplicate",
    "not_drawn": "not drawn",
}
"""Counts of records that are neither rejected nor kept: name in the manifest → name in the report."""
NO_ARTICLES = ("screen-pages/other-namespace", "screen-pages/redirect")
"""Stages and reasons for the rejection of pages of a wiki that are no articles, such as talk pages."""


class Facts(NamedTuple):
    """The facts about a build from which the report is made. They are read from the files of the build."""

    build: Build
    unit: str  # of documents, such as "articles"
    stats: Mapping[str, Any]  # stats.json
    words: int | None = None  # number of words of all documents; None if unknown

    @property
    def shape(self) -> CorpusShape | None:
        """The columns and splits of the documents; None if the build has no documents."""
        return shape_of(self.build.manifest)

    @property
    def counts(self) -> Mapping[str, Any]:
        """The counts in the manifest of the build, such as the number of documents in each split."""
        counts: Mapping[str, Any] = self.build.manifest.get("counts", {})
        return counts

    @property
    def kept(self) -> Mapping[str, int]:
        """Name of each split → its number of documents. A split may be part of another split."""
        kept: Mapping[str, int] = self.counts.get("kept", {})
        return {split: count for split, count in kept.items() if split != "total"}

    @property
    def total(self) -> int:
        """The number of all documents. A document that is in two splits counts once."""
        return int(self.counts.get("kept", {}).get("total", 0))

    def name_of(self, start: str, end: str) -> str:
        """Returns the first of the build's file names that begin with `start` and end with `end`.

        Returns "" if there is none.
        """
        return next(iter(self.names_of(start, end)), "")

    def names_of(self, start: str, end: str) -> list[str]:
        """Returns all file names of the build that begin with `start` and end with `end`, sorted."""
        names = (file["name"] for file in self.build.manifest["outputs"])
        return sorted(name for name in names if name.startswith(start) and name.endswith(end))

    def about(self) -> str:
        """Returns what the dataset card says about the corpus; "" if the build has no card."""
        return " ".join(read_about(read_card(self.build)).split())

    def rejected_names(self) -> list[str]:
        """Returns the names of the files with Rejected records. Other files may be beside them."""
        return self.names_of("rejected/rejected", ".parquet")

    def read_table(self, name: str) -> Iterator[dict[str, str]]:
        """Yields the rows of the build's tab-separated file `name`, as name of the column → cell.

        Yields nothing if there is no such file.
        """
        if name not in self.names_of(name, ""):
            return
        with io.TextIOWrapper(open_input(path_below(self.build.folder, name)), "utf-8") as lines:
            for row in csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE):
                yield {column: unprotect(cell or "") for column, cell in row.items()}


class Fate(NamedTuple):
    """A reason for which records were left out, and the number of these records."""

    name: str  # the reason: stage and reason of a rejection, or a value of LEFT_OUT
    records: int


class Balance(NamedTuple):
    """The numbers of records that a build has read, kept and left out. `read` is the sum of
    `left_out` and `kept`.
    """

    unit: str  # of what was read: "pages"
    read: int
    left_out: list[Fate]  # the largest first
    kept: int
    no_documents: int = 0  # pages of a wiki that are no articles; they are no loss

    @property
    def share_kept(self) -> str:
        """The share of records that are kept. Pages that are no articles are not counted."""
        return share(self.kept, self.read - self.no_documents)


def read_facts(build: Build) -> Facts:
    """Reads the counts of a build. Raises InputError if they are missing or damaged."""
    row = row_of_build(build.manifest)
    has_stats = any(file["name"] == STATS for file in build.manifest["outputs"])
    # A package of translations has only the counts in its manifest.
    stats = (
        {} if "languages" in build.manifest and not has_stats else read_json(build.folder, STATS)
    )
    with counts_are_read(build.folder):
        words = stats.get("total", {}).get("words")
        return Facts(build, row.unit if row else "documents", stats, words and int(words))


def balance_of(facts: Facts) -> Balance | None:
    """Returns the numbers of records that were read, kept and left out; None if the build reads no
    documents.
    """
    counts = facts.counts
    names = [name for name in counts if name.endswith(READ)]
    if not names or "kept" not in counts:
        return None
    rejected = {name: count for name, count in counts["rejected"].items() if name != "total"}
    others = {title: counts.get(name, 0) for name, title in LEFT_OUT.items()}
    fates = [Fate(*one) for one in {**rejected, **others}.items() if one[1]]
    fates.sort(key=lambda fate: (-fate.records, fate.name))
    read = counts[names[0]]
    return Balance(
        unit=names[0].removesuffix(READ),
        read=read,
        left_out=fates,
        kept=read - sum(fate.records for fate in fates),
        no_documents=sum(n for name, n in rejected.items() if name.endswith(NO_ARTICLES)),
    )


DOCUMENTS = 20
SENTENCE = "sentence_"
REJECTED = 400
"""Maximum number of rejected records on a page. Each reason for rejection gets an equal share of this number,
but at least LEAST_OF_REASON, even if the maximum is then exceeded. If a reason has fewer records than its
share, the other reasons get the rest.
"""
LEAST_OF_REASON = 5
ROWS_SAMPLED = 20_000
"""Minimum number of rows in the sample for statistics about columns, unless the build has fewer."""
ROWS_READ = 200_000
"""Maximum number of rejected records that are read. They are distributed over the files by a hash, so the
first files are a random sample.
"""


class Document(NamedTuple):
    """A document of a build, as the report displays it."""

    id: str
    title: str
    split: str
    text: str


def choose_documents(facts: Facts, count: int = DOCUMENTS) -> list[Document]:
    """Returns up to `count` documents. The choice depends only on the signature and size of the build."""
    if not (shape := facts.shape) or not shape.texts:
        return []
    groups = [group for file in files_of_documents(facts) for group in row_groups_of(file)]
    ends = list(itertools.accumulate(group.rows for group in groups))
    chosen = _places(facts.build.signature, ends[-1] if ends else 0, count)
    found: dict[int, Document] = {}
    for number, places in grouped((bisect.bisect(ends, place), place) for place in chosen).items():
        begin = ends[number] - groups[number].rows
        documents = _documents(groups[number], [place - begin for place in places], shape)
        found.update(zip(places, documents, strict=True))
    return [found[place] for place in chosen]


def sample_columns(facts: Facts, columns: Sequence[str]) -> pa.Table:
    """Returns a table with the given columns and a sample of at least ROWS_SAMPLED rows of a build.

    The sample consists of whole row groups, which are chosen by a hash of the build's signature. If the build
    has fewer rows, returns all of them. Columns that the build does not have are left out of the table.
    """
    groups = [group for file in files_of_documents(facts) for group in row_groups_of(file)]
    tables: list[pa.Table] = []
    for number in _places(facts.build.signature, len(groups), len(groups)):
        there = columns_of(groups[number].file.path)
        names = [name for name in columns if name in there]
        tables.append(read_row_group(groups[number], names).table)
        if sum(table.num_rows for table in tables) >= ROWS_SAMPLED:
            break
    return pa.concat_tables(tables, promote_options="default") if tables else pa.table({})


def _places(seed: str, total: int, count: int) -> list[int]:
    """Returns up to `count` different random numbers from 0 to `total` - 1. The same arguments always give
    the same numbers.
    """
    drawn = (fingerprint(f"{seed} {number}") % total for number in itertools.count())
    places: dict[int, None] = {}
    while len(places) < min(count, total):
        places.setdefault(next(drawn))
    return list(places)


def files_of_documents(facts: Facts) -> list[CorpusFile]:
    """Returns the files with the documents of a build, in the format that is read."""
    build, shape = facts.build, facts.shape
    return [
        build.file(file["name"], file["split"])
        for file in sorted(build.manifest["outputs"], key=lambda one: str(one["name"]))
        if shape and file["format"] == build.format and file["split"] in shape.splits
    ]


def _documents(group: RowGroup, numbers: list[int], shape: CorpusShape) -> Iterator[Document]:
    there = columns_of(group.file.path)
    texts = text_columns(there, shape)
    titled = shape.title not in ("", TITLE_IN_TEXT)
    columns = [name for name in (shape.id, shape.title if titled else "", *texts) if name in there]
    for row in read_row_group(group, columns).table.take(numbers).to_pylist():
        title = _shown_title(row[shape.title]) if titled else ""
        if shape.title == TITLE_IN_TEXT:
            title = parse_article(row[texts[0]])[0]
        identity = str(row[shape.id]) if shape.id else ""
        yield Document(identity, title, group.file.split, join_texts(row, texts))


def text_columns(there: Sequence[str], shape: CorpusShape) -> list[str]:
    """Returns the names of the columns with the text of a document.

    It is one column or, in a package of translations, one for each language.

    Args:
      there: The names of all columns.
    """
    if shape.texts[0] in there:
        return [shape.texts[0]]
    return [name for name in there if name.startswith(SENTENCE)]


def join_texts(row: Mapping[str, Any], columns: Sequence[str]) -> str:
    """Returns the text of a row. If there are several columns, the language is above each text."""
    if len(columns) == 1:
        return str(row[columns[0]])
    return "\n\n".join(f"{name.removeprefix(SENTENCE)}\n{row[name]}" for name in columns)


def _shown_title(title: str) -> str:
    """Returns the page title if `title` is the address of a wiki page; otherwise returns `title`."""
    page = title.partition("/wiki/")[2] if title.startswith("https://") else ""
    return unquote(page).replace("_", " ") or title


def address_of(facts: Facts, identity: str, title: str) -> str:
    """Returns the address of the page of a wiki or of Project Gutenberg from which a document was made.

    Returns "" if it is unknown.

    Args:
      identity, title: The id and the title of the document or rejected record.
    """
    build = facts.build
    site, _, page = identity.rpartition(":")
    if build.corpus == "wiki40b" and title:
        wiki = code_of(dbname_of(build.language))
        return f"https://{wiki}.wikipedia.org/wiki/{quote(title.replace(' ', '_'))}"
    if not page.isdecimal():
        return ""
    if site in ("wikibooks", "wikinews", "wikivoyage"):
        return f"https://{build.language}.{site}.org/?curid={page}"
    return _GUTENBERG.format(page) if facts.unit == "books" and not site else ""


def choose_rejected(facts: Facts, count: int = REJECTED) -> list[Rejected]:
    """Returns about `count` rejected records, sorted by stage, reason, title and id.

    For each reason of rejection, returns at least LEAST_OF_REASON records, or all if there are fewer.
    """
    found = itertools.islice(_rejected(facts), ROWS_READ)
    of_reason = grouped(((record.stage, record.reason), record) for record in found)
    chosen: list[Rejected] = []
    for done, records in enumerate(sorted(of_reason.values(), key=len)):
        most = max(LEAST_OF_REASON, (count - len(chosen)) // (len(of_reason) - done))
        chosen += heapq.nsmallest(most, records, key=_draw)
    return sorted(chosen, key=_order)


def _draw(record: Rejected) -> tuple[int, Rejected]:
    return fingerprint(f"{record.id} {record.title} {record.detail}"), record


def _order(record: Rejected) -> tuple[object, ...]:
    return record.stage, record.reason, record.title, len(record.id), record.id, record.detail


def _rejected(facts: Facts, identity: str = "") -> Iterator[Rejected]:
    """Yields the rejected records of a build; only those with the id or title `identity` if it is given."""
    for name in facts.rejected_names():
        for part in read_file(facts.build.file(name), Rejected._fields):
            table = part.table
            if identity:
                table = table.take(
                    pa.array(_rows_of(table, ("id", "title"), [identity]), pa.int64())
                )
            columns = (column.to_pylist() for column in table.columns)
            yield from map(Rejected._make, zip(*columns, strict=True))


_ID, _PAGE_ID, _VERSION_ID = "id", "page_id", "version_id"
_GUTENBERG = "https://www.gutenberg.org/ebooks/{}"
_TABLES = {
    "dates-": "book_id",
    "books-": "book_id",
    "audit/findings.tsv": "page_id",
}
"""Prefix of the name of a table in a build → the column that holds the document's id."""

_FINDINGS = "audit/findings.tsv"
_SHOWN = 201  # maximum number of characters of a value that are shown


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
    build = choose_build(folder)
    shape = shape_of(build.manifest)
    if not shape or not shape.texts:
        raise InputError(folder, f"a build of {build.corpus} contains no documents")
    facts = read_facts(build)
    if not (found := [*_kept(facts, shape, identity), *_rejected_with(facts, identity)]):
        known = shape.id or "text"
        raise InputError(folder, f"no document and no rejected record has the {known} {identity!r}")
    return found


def _kept(facts: Facts, shape: CorpusShape, identity: str) -> Iterator[Origin]:
    """Yields an Origin for each row whose id is `identity`.

    If there is no such row, yields an Origin for each row whose title is `identity`.
    """
    by_id = list(_rows_with(facts, shape, identity, by_title=False))
    yield from by_id or _rows_with(facts, shape, identity, by_title=True)


def _rows_with(
    facts: Facts, shape: CorpusShape, identity: str, *, by_title: bool
) -> Iterator[Origin]:
    for file in files_of_documents(facts):
        if not (columns := _columns(file.path, shape, by_title=by_title)):
            continue
        first = 0
        name = file.path.removeprefix(f"{facts.build.folder.rstrip('/')}/")
        for group in row_groups_of(file):
            table = read_row_group(group, columns).table
            for place in _rows_of(table, columns, _identities(facts.build, identity)):
                yield _origin(facts, shape, group, place, f"{name}, row {first + place:,}")
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


def _rows_of(table: pa.Table, columns: Sequence[str], identities: Sequence[str]) -> list[int]:
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
    return shorten(" ".join(str(value).split()), _SHOWN)


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


def _rejected_with(facts: Facts, identity: str) -> Iterator[Origin]:
    for record in _rejected(facts, identity):
        told = [
            ("build", facts.build.signature),
            ("title", record.title),
            ("id", record.id),
            ("stage", record.stage),
            ("reason", record.reason),
            ("detail", _short(record.detail)),
            ("page", address_of(facts, record.id, record.title)),
            *_inputs(facts.build),
            *_of_tables(facts, record.id, record.title),
        ]
        yield Origin("rejected", [one for one in told if one[1]], "")
