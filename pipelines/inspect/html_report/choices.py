"""Chooses the documents and rejected records that the report displays as examples from a build.

The choice is random but repeatable: it depends on hashes. Only a part of a large build is read.
"""

import bisect
import heapq
import itertools
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import unquote

import pyarrow as pa

from corpusmill.pipelines.inspect.html_report.facts import Facts
from corpusmill.transforms.files.builds.corpus_shapes import TITLE_IN_TEXT, CorpusShape
from corpusmill.transforms.files.builds.finished_builds import (
    CorpusFile,
    RowGroup,
    columns_of,
    path_below,
    read_file,
    read_row_group,
    row_groups_of,
)
from corpusmill.transforms.files.fingerprint import fingerprint
from corpusmill.transforms.files.records import Rejected
from corpusmill.transforms.wikitext.article_markers import parse_article

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


def choose_documents(facts: Facts, shape: CorpusShape, count: int = DOCUMENTS) -> list[Document]:
    """Returns up to `count` documents. The choice depends only on the signature and size of the build."""
    if not shape.texts:
        return []
    groups = [group for file in _files(facts, shape) for group in row_groups_of(file)]
    ends = list(itertools.accumulate(group.rows for group in groups))
    chosen = _places(facts.build.signature, ends[-1] if ends else 0, count)
    found: dict[int, Document] = {}
    numbers = itertools.groupby(sorted(chosen), lambda place: bisect.bisect_right(ends, place))
    for number, places in numbers:
        group = groups[number]
        begin = ends[number] - group.rows
        taken = list(places)
        documents = _documents(group, [place - begin for place in taken], shape)
        found.update(zip(taken, documents, strict=True))
    return [found[place] for place in chosen]


def sample_columns(facts: Facts, shape: CorpusShape, columns: Sequence[str]) -> pa.Table:
    """Returns a table with the given columns and a sample of at least ROWS_SAMPLED rows of a build.

    The sample consists of whole row groups, which are chosen by a hash of the build's signature. If the build
    has fewer rows, returns all of them. Columns that the build does not have are left out of the table.
    """
    groups = [group for file in _files(facts, shape) for group in row_groups_of(file)]
    tables: list[pa.Table] = []
    for number in _places(facts.build.signature, len(groups), len(groups)):
        there = columns_of(groups[number].file.path)
        names = [name for name in columns if name in there]
        tables.append(read_row_group(groups[number], names).table)
        if sum(table.num_rows for table in tables) >= ROWS_SAMPLED:
            break
    return pa.concat_tables(tables) if tables else pa.table({})


def _places(seed: str, total: int, count: int) -> list[int]:
    """Returns up to `count` different random numbers from 0 to `total` - 1. The same arguments always give
    the same numbers.
    """
    drawn = (fingerprint(f"{seed} {number}") % total for number in itertools.count())
    places: dict[int, None] = {}
    while len(places) < min(count, total):
        places.setdefault(next(drawn))
    return list(places)


def _files(facts: Facts, shape: CorpusShape) -> list[CorpusFile]:
    build = facts.build
    return [
        CorpusFile(
            path_below(build.folder, file["name"]),
            file["split"],
            build.edition,
            build.name,
            build.corpus,
        )
        for file in sorted(build.manifest["outputs"], key=lambda one: str(one["name"]))
        if file["format"] == "parquet" and file["split"] in shape.splits
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


def choose_rejected(facts: Facts, count: int = REJECTED) -> list[Rejected]:
    """Returns about `count` rejected records, sorted by stage, reason, title and id.

    For each reason of rejection, returns at least LEAST_OF_REASON records, or all if there are fewer.
    """
    of_reason: dict[tuple[str, str], list[Rejected]] = defaultdict(list)
    for record in itertools.islice(_rejected(facts), ROWS_READ):
        of_reason[record.stage, record.reason].append(record)
    chosen: list[Rejected] = []
    for done, records in enumerate(sorted(of_reason.values(), key=len)):
        most = max(LEAST_OF_REASON, (count - len(chosen)) // (len(of_reason) - done))
        chosen += heapq.nsmallest(most, records, key=_draw)
    return sorted(chosen, key=_order)


def _draw(record: Rejected) -> tuple[int, Rejected]:
    return fingerprint(f"{record.id} {record.title} {record.detail}"), record


def _order(record: Rejected) -> tuple[object, ...]:
    return record.stage, record.reason, record.title, len(record.id), record.id, record.detail


def _rejected(facts: Facts) -> Iterator[Rejected]:
    build = facts.build
    for name in facts.rejected_names():
        path = path_below(build.folder, name)
        file = CorpusFile(path, "", build.edition, build.name, build.corpus)
        for part in read_file(file, Rejected._fields):
            columns = (column.to_pylist() for column in part.table.columns)
            yield from map(Rejected._make, zip(*columns, strict=True))
