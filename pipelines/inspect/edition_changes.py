"""Compares the rows of two editions of a corpus: documents added, removed, changed, moved or unchanged.

Lists the differences between two builds in versions, settings and kinds of inputs, but not in data.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from corpusmill.transforms.files import markup
from corpusmill.transforms.files.terminal import shorten

from .text_changes import Document

NONE = "none"
MOST_SHOWN = 61  # characters of a value
PINS = "pin-splits"  # role of input files that assign documents to splits


def find_differences(old: Mapping[str, Any], new: Mapping[str, Any]) -> tuple[str, ...]:
    """Returns the differences between the manifests of two builds.

    Examples are "version: 1.2.0 → 1.3.0" and "settings limit: 0 → 100". Of inputs, only the number of files
    with each role is compared, because the files of a newer dump are always different.
    """
    before, after = _facts_of(old), _facts_of(new)
    return tuple(
        f"{name}: {' → '.join(shorten(str(of.get(name, NONE)), MOST_SHOWN) for of in (before, after))}"
        for name in dict.fromkeys([*before, *after])
        if before.get(name, NONE) != after.get(name, NONE)
    )


def _facts_of(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the facts of a manifest that are compared, by name. `find_differences` prints these names."""
    facts = {"version": manifest["version"]}
    for part in ("settings", "code"):
        for name, value in sorted(_flat(manifest.get(part) or {}).items()):
            facts[f"{part} {name}"] = value
    if languages := manifest.get("languages"):
        facts["languages"] = " ".join(languages)
    inputs = manifest.get("inputs", [])
    for role, files in sorted(Counter(file["role"] for file in inputs).items()):
        facts[f"inputs {role}"] = f"{files} file{'s' * (files > 1)}"
    pins = sorted(file["sha256"] for file in inputs if file["role"] == PINS)
    if pins:
        facts["pinned splits, SHA-256"] = " ".join(pins)
    return facts


def _flat(values: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Flattens a nested mapping. Returns dotted name → value."""
    flat: dict[str, Any] = {}
    for name, value in values.items():
        if isinstance(value, Mapping):
            flat |= _flat(value, f"{prefix}{name}.")
        else:
            flat[prefix + name] = value
    return flat


ADDED, REMOVED, CHANGED, MOVED = "added", "removed", "changed", "moved"
UNCHANGED = "unchanged"
REPEATED = "repeated"

SCHEMA = pa.schema(
    [
        pa.field("id", pa.string(), nullable=False),
        pa.field("title", pa.string(), nullable=False),
        pa.field("split", pa.int8(), nullable=False),  # index in the splits of the corpus
        pa.field("digest", pa.uint64(), nullable=False),  # fingerprint of all compared columns
        pa.field("bytes", pa.int64(), nullable=False),  # size of the texts in UTF-8
        pa.field("is_new", pa.bool_(), nullable=False),  # True for rows of the newer edition
    ]
)

Tally = dict[tuple[str, str, str], int]
"""(kind of change, old split, new split) → number of documents.

(REPEATED, "", "") → number of ids that are in several rows.
"""


class Row(NamedTuple):
    """A document in one of the editions."""

    split: str
    digest: int
    bytes: int
    title: str
    document: Document = Document()  # its paragraphs, if texts are compared


Pair = tuple[Row | None, Row | None]  # a document's row in the older and in the newer edition


class Change(NamedTuple):
    """A document that differs between the editions."""

    id: str
    title: str  # title in the newer edition; for a removed document, in the older one
    fate: str  # ADDED, REMOVED, CHANGED or MOVED; a moved document may have changed, too
    old_split: str  # "" for an added document
    new_split: str  # "" for a removed document
    old_bytes: int | None  # size of the text in UTF-8; None for an added document
    new_bytes: int | None
    paragraphs: tuple[int, ...] = ()  # values of PARAGRAPHS if texts were compared


PARAGRAPHS = "old_paragraphs new_paragraphs same_paragraphs old_words new_words same_words".split()
"""Columns of a report if texts were compared: paragraphs and words of both rows, and those of
paragraphs that are equal but for white space.
"""


class SplitChanges(NamedTuple):
    """Numbers of documents of a split that were added, removed, changed, … between two editions.

    `old` is the number of documents of the split in the older edition: removed + changed + unchanged +
    moved_out. `new` is the number in the newer edition: added + changed + unchanged + moved_in. A document is
    moved if it is in another split in the newer edition.
    """

    old: int = 0
    new: int = 0
    added: int = 0
    removed: int = 0
    changed: int = 0
    unchanged: int = 0
    moved_out: int = 0  # documents moved to another split
    moved_in: int = 0


def compare_rows(
    rows: pa.Table,
    splits: Sequence[str],
    count: Callable[[str, str, Document | None, Document | None], tuple[int, ...]] = lambda *_: (),
) -> tuple[Tally, list[Change]]:
    """Counts all documents by their change, and lists the documents that differ between the editions.

    Returns the tally of changes and the list, which is sorted by `order`. The tally maps (kind of change, old
    split, new split) to a number of documents. The old split of an added document is "", and so is the new
    split of a removed one. The tally also has (REPEATED, "", "") → number of ids that are in several rows of
    an edition. Each row with such an id is compared with the most similar row of the other edition, see
    `pair_rows`.

    Args:
      rows: the rows of both editions, a table with SCHEMA.
      splits: the splits of the corpus.
      count: function from the id and title of a row that may differ, and the two documents that are compared,
        to the values of PARAGRAPHS.
    """
    same = (
        rows.select(["id", "split", "digest"])
        .append_column("new", rows["is_new"].cast(pa.int32()))
        .append_column("old", pc.invert(rows["is_new"]).cast(pa.int32()))
        .group_by(["id", "split", "digest"], use_threads=False)
        .aggregate([("old", "sum"), ("new", "sum")])
    )
    differing = pc.unique(same.filter(pc.not_equal(same["old_sum"], same["new_sum"]))["id"])
    tally = _tally_unchanged(same.filter(pc.invert(pc.is_in(same["id"], differing))), splits)
    tally[REPEATED, "", ""] = _count_repeated(same)
    changes = []
    for identity, old, new in _by_id(rows.filter(pc.is_in(rows["id"], differing)), splits):
        for pair in pair_rows(old, new):
            change = describe(identity, *pair)
            documents = (row.document if row else None for row in pair)
            change = change._replace(paragraphs=count(identity, change.title, *documents))
            tally[change.fate, change.old_split, change.new_split] += 1
            if change.fate != UNCHANGED:
                changes.append(change)
    return dict(+tally), sorted(changes, key=order)


def _tally_unchanged(same: pa.Table, splits: Sequence[str]) -> Counter[tuple[str, str, str]]:
    by_split = same.group_by("split", use_threads=False).aggregate([("old_sum", "sum")])
    tally: Counter[tuple[str, str, str]] = Counter()
    for number, count in zip(*map(pa.ChunkedArray.to_pylist, by_split.columns), strict=True):
        tally[UNCHANGED, splits[number], splits[number]] = count
    return tally


def _count_repeated(same: pa.Table) -> int:
    by_id = same.group_by("id", use_threads=False).aggregate(
        [("old_sum", "sum"), ("new_sum", "sum")]
    )
    most = pc.max_element_wise(by_id["old_sum_sum"], by_id["new_sum_sum"])
    return pc.sum(pc.greater(most, 1)).as_py() or 0


def _by_id(rows: pa.Table, splits: Sequence[str]) -> Iterator[tuple[str, list[Row], list[Row]]]:
    """Groups rows by id.

    Yields (id, its rows in the older edition, its rows in the newer edition), sorted.
    """
    of_id: dict[str, tuple[list[Row], list[Row]]] = defaultdict(lambda: ([], []))
    columns = (rows[name].to_pylist() for name in rows.column_names)
    for identity, title, split, digest, size, is_new, *document in zip(*columns, strict=True):
        row = Row(splits[split], digest, size, title, Document(*document))
        of_id[identity][is_new].append(row)
    for identity, (old, new) in of_id.items():
        yield identity, sorted(old), sorted(new)


def pair_rows(old: Sequence[Row], new: Sequence[Row]) -> Iterator[Pair]:
    """Pairs the rows of one id, each with the most similar row of the other edition.

    Rows with the same text and split are paired first, then rows with the same text, then rows of the same
    split, then the others in order. A row without a partner is paired with None.
    """
    likenesses: tuple[Callable[[Row], Hashable], ...] = (
        lambda row: (row.digest, row.split),
        lambda row: row.digest,
        lambda row: row.split,
        lambda row: None,
    )
    for likeness in likenesses:
        waiting: dict[Hashable, list[Row]] = defaultdict(list)
        for row in reversed(new):
            waiting[likeness(row)].append(row)
        left = []
        for row in old:
            if alike := waiting[likeness(row)]:
                yield row, alike.pop()
            else:
                left.append(row)
        old, new = left, sorted(row for rows in waiting.values() for row in rows)
    yield from ((row, None) for row in old)
    yield from ((None, row) for row in new)


def describe(identity: str, old: Row | None, new: Row | None) -> Change:
    """Returns the change of a document, given its rows in the old and the new edition.

    `identity` is the id of the document. `old` is None if the document is not in the old edition, `new` is
    None if it is not in the new edition. If the split and the digest of the compared columns are the same in
    both rows, the attribute `fate` of the result is UNCHANGED.
    """
    there = new or old
    assert there
    return Change(
        identity,
        there.title,
        _fate_of(old, new),
        old.split if old else "",
        new.split if new else "",
        old.bytes if old else None,
        new.bytes if new else None,
    )


def _fate_of(old: Row | None, new: Row | None) -> str:
    if not old or not new:
        return REMOVED if old else ADDED
    if old.split != new.split:
        return MOVED
    return UNCHANGED if old.digest == new.digest else CHANGED


def order(change: Change) -> tuple[Any, ...]:
    """Returns the sort key of a change. Shorter ids come first, so Q9 is before Q10."""
    sizes = (-1 if size is None else size for size in (change.old_bytes, change.new_bytes))
    return len(change.id), *change[:5], *sizes


def add_tallies(tallies: Iterable[Tally]) -> Tally:
    """Adds up several tallies (counts of documents by change)."""
    total: Counter[tuple[str, str, str]] = Counter()
    for tally in tallies:
        total.update(tally)
    return dict(total)


def split_changes(tally: Tally, splits: Sequence[str]) -> dict[str, SplitChanges]:
    """Returns, for each split, the numbers of its documents that are added, removed, changed and so on."""
    counts: dict[str, Counter[str]] = {split: Counter() for split in splits}
    for (fate, old, new), count in tally.items():
        if fate == REPEATED:
            continue
        if fate != ADDED:
            counts[old].update({"old": count, "moved_out" if fate == MOVED else fate: count})
        if fate != REMOVED:
            counts[new]["new"] += count
            if fate in (ADDED, MOVED):
                counts[new]["moved_in" if fate == MOVED else ADDED] += count
    return {split: SplitChanges(**counts[split]) for split in splits}


def moves(tally: Tally) -> dict[tuple[str, str], int]:
    """Returns (old split, new split) → number of documents that moved from the old to the new split.

    The result is sorted by the names of the splits.
    """
    return {(old, new): n for (fate, old, new), n in sorted(tally.items()) if fate == MOVED}


def to_line(change: Change) -> str:
    """Returns a change as a line of a TSV table. Values that are None become ""."""
    fields = (*change[:-1], *change.paragraphs)
    return markup.to_line("" if field is None else field for field in fields)


def parse_line(line: str) -> Change:
    """Parses a line made by `to_line`. White space in titles may differ from the original."""
    fields = map(markup.unprotect, line.removesuffix("\n").split("\t"))
    identity, title, fate, old, new, *sizes = fields
    old_bytes, new_bytes = (int(size) if size else None for size in sizes[:2])
    paragraphs = tuple(map(int, sizes[2:]))
    return Change(identity, title, fate, old, new, old_bytes, new_bytes, paragraphs)
