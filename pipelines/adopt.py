"""Released corpora as builds: their rows in the formats of builds, with statistics, manifest and card.

No text is changed. A row is an article, a sentence, a book, a paragraph, or a sentence in one language. Rows
are in the order of the release.
"""

import functools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import apache_beam as beam
import numpy as np
import pyarrow as pa
from apache_beam.pvalue import AsDict, AsList

from corpusmill.pipelines.run.corpus_build import CorpusBuild, Place, Stage
from corpusmill.transforms.files.builds.ledger import AccountFor, Accounts, Ledger, length_class
from corpusmill.transforms.files.builds.manifest import RELEASED as SOURCE
from corpusmill.transforms.files.builds.manifest import Description, Provenance
from corpusmill.transforms.files.distribution import MapOnce, SpreadAll
from corpusmill.transforms.files.formats import parse_formats
from corpusmill.transforms.files.markup import render
from corpusmill.transforms.files.read_files import InputError
from corpusmill.transforms.files.records import OutputFile
from corpusmill.transforms.files.released_layouts import (
    LAYOUTS,
    ReleasedFile,
    find_release,
    open_released,
    tar_files,
)
from corpusmill.transforms.files.scratch import Scratch
from corpusmill.transforms.files.text import SPLITS, Shard, fingerprint
from corpusmill.transforms.files.write_files import mark
from corpusmill.transforms.files.write_rows import RowKind, encode_rows, row_files, write_files

from .adopt_settings import LITERALS, RELEASED, AdoptConfig

ROWS = 1 << 12  # sentences or paragraphs in a row group

Row: TypeAlias = tuple[Any, ...]
Members: TypeAlias = Mapping[str, bytes]
"""Name of a file of a .tar archive → reference to its content in scratch."""


class ReleasedShard(NamedTuple):
    """The files of a release from which one shard of a build is made."""

    shard: Shard
    files: Sequence[ReleasedFile]


class Counting(NamedTuple):
    """The functions that compute the statistics of rows."""

    measure: Callable[[Row], Any]
    add: Callable[[Iterable[Any]], Any]
    length: str  # name of the statistic that is the length of a row
    key: Callable[[Row], tuple[str, str]] | None = None  # row → (its id, all else in it)


ReadRows: TypeAlias = Callable[[ReleasedShard, Members, Counter[str]], Iterator[Row]]
"""Function (shard, unpacked files, counts to add to) → rows."""


class Writing(NamedTuple):
    """The settings for writing the shards of a build."""

    folder: str
    corpus: str
    formats: Sequence[str]
    kind: RowKind
    read: ReadRows
    counting: Counting


class Written(NamedTuple):
    """The files of a shard, and the counts of its rows."""

    split: str
    files: list[OutputFile]
    stats: Any
    lengths: Mapping[int, int]  # class of lengths → number of rows
    notes: Mapping[str, int]  # counts that only some corpora have
    keys: bytes  # fingerprints of the keys of rows


class Unpacked(NamedTuple):
    """The result of the stage "unpack". Only files of .tar archives are unpacked."""

    members: beam.PCollection  # of (name, reference to the content)
    ledger: beam.PCollection  # of Entry


def write_shard(shard: ReleasedShard, members: Members, how: Writing) -> Written:
    """Writes the rows of a shard in all formats, one row group at a time, and counts them."""
    notes, lengths = Counter[str](), Counter[int]()
    counting, total, keys = how.counting, how.counting.add([]), list[tuple[int, int]]()

    def counted() -> Iterator[Row]:
        nonlocal total
        for row in how.read(shard, members, notes):
            stats = counting.measure(row)
            total = counting.add([total, stats])
            lengths[length_class(getattr(stats, counting.length))] += 1
            if counting.key:
                identity, others = map(fingerprint, counting.key(row))
                keys.append((identity, others))
            yield row

    batches = encode_rows(counted(), how.kind, how.formats)
    targets = row_files(how.formats, how.corpus, shard.shard)
    files = write_files(how.folder, targets, how.kind.schema, batches)
    packed = np.array(keys, np.uint64).tobytes()
    return Written(shard.shard.split, files, total, lengths, notes, packed)


def unpack(archive: str, names: frozenset[str], scratch: Scratch) -> Iterator[tuple[str, bytes]]:
    """Yields (name, reference to the content in scratch) for the files `names` of a .tar archive."""
    for member in tar_files(archive):
        if member.name in names:
            yield member.name, scratch.put(member.content.read())


def count_repeated(source: str, blocks: Iterable[bytes]) -> int:
    """Returns the number of rows whose id an earlier row has.

    Raises InputError if all values of two rows are equal.

    Args:
      source: the source of the release, for the message.
      blocks: fingerprints of the ids and of the other values of rows, see `Written.keys`.
    """
    keys = np.frombuffer(b"".join(blocks), np.uint64).reshape(-1, 2)
    keys = keys[np.lexsort((keys[:, 1], keys[:, 0]))]
    is_same = keys[1:] == keys[:-1]
    if whole := int(is_same.all(axis=1).sum()):
        raise InputError(
            source, f"{whole:,} rows are repeated: are files there twice, under two names?"
        )
    return int(is_same[:, 0].sum())


def texts_of(file: ReleasedFile, members: Members, *, ends: bool = False) -> Iterator[str]:
    """Yields the lines of a file without their line feeds.

    Raises InputError if a line is not UTF-8 or, with `ends`, if the last one has no line feed.
    """
    with open_released(file, members) as stream:
        for number, line in enumerate(stream, 1):
            if ends and not line.endswith(b"\n"):
                raise InputError(file.place, f"truncated: line {number:,} has no line feed")
            try:
                yield line.removesuffix(b"\n").decode("utf-8")
            except UnicodeDecodeError:
                raise InputError(file.place, f"line {number:,} is not UTF-8") from None


def account_for_released(
    ledger: Ledger, provenance: Provenance, account_for: AccountFor, unit: str
) -> Accounts:
    """Returns the counts, statistics and card of a build that is made of a released corpus.

    Args:
      ledger: the entries of the stages. In addition to those that `account_for` reads, it has `notes`:
        ((split, language or LITERALS), number of rows); and `repeated`: number of rows whose id another has.
      provenance: the facts about the build that were known before it ran.
      account_for: the function for the corpus. Its sections of the card are replaced.
      unit: the name of the rows, which replaces "books" in the statistics.
    """
    accounts = account_for(ledger, provenance)
    stats: dict[str, Any] = {
        split: {name.replace("books", unit): value for name, value in counts.items()}
        if isinstance(counts, Mapping)
        else counts
        for split, counts in accounts.stats.items()
    }
    languages: dict[str, dict[str, int]] = {}
    for (split, language), count in sorted(ledger.values("notes")):
        languages.setdefault(language, {})[split] = count
    literals = languages.pop(LITERALS, {})
    counts = {
        "kept": accounts.counts["kept"],
        LITERALS: sum(literals.values()),
        "repeated_ids": ledger.number("repeated"),
    }
    sections = render(
        "released",
        layout=LAYOUTS[provenance.settings["layout"]].title,
        stats=stats,
        counts=counts,
        languages=languages,
    )
    findings = {"rows_by_language": languages} if languages else {}
    return Accounts(counts, stats, sections, {"stats": stats, **findings}, accounts.caveats)


def rows_in(written: Written, splits: Sequence[str]) -> Iterator[int]:
    """Yields the number of rows of a shard, if its split is one of `splits`."""
    if written.split in splits:
        yield written.files[0].records


def counts_of(written: Written, field: str) -> Iterator[tuple[tuple[str, Any], int]]:
    """Yields ((split, name), count) for the counts in a field."""
    for name, count in getattr(written, field).items():
        yield (written.split, name), count


class Adopted(CorpusBuild):
    """A build that is made of a released corpus."""

    config: AdoptConfig
    libraries = ("numpy",)
    unheld = ("released",)  # no worker holds more than a row group, or a shard of One Billion Word
    lang = "en"
    base: Description
    counting: Counting
    kind_of_rows: RowKind
    read: ReadRows
    account_for: AccountFor
    read_as = "files"  # account of the number of rows in the ledger
    unit = "books"  # name of the rows
    files_per_shard = 1

    def __init__(self, config: AdoptConfig):
        """Finds and checks the inputs.

        Raises InputError for files that are unknown, missing or repeated, and for a damaged archive.
        """
        self.config = config
        self.found = find_release(
            config.corpus,
            config.source,
            config.language,
            partial=config.partial,
            ignore=config.ignore,
        )
        self.release = RELEASED._replace(corpus=config.corpus)
        title = self.base.title or self.found.layout.title.partition(":")[0]
        self.description = self.base._replace(
            title=f"{title}, as released",
            about=(
                f"{title} as its authors released it. No text was changed: corpusmill has only converted the"
                " files to other formats, and counted the text."
            ),
            features=self.kind_of_rows.schema.names,
            splits=tuple(self.found.files),
        )
        self.check()

    def check(self) -> None:
        """Checks the release further. Raises InputError if files are unknown, missing or repeated."""

    @property
    def edition(self) -> str:
        """The name of the edition, such as "uk-released"."""
        return f"{self.lang}-released{'-partial' if self.found.missing else ''}"

    def date_of_inputs(self) -> str:
        """Returns the year of the release, or the years of its inputs."""
        return self.found.layout.date

    def inputs(self) -> Mapping[str, Sequence[str]]:
        files = [file for of in self.found.files.values() for file in of]
        paths = (file.path for file in (*files, *self.found.tables.values()))
        return {"released": list(dict.fromkeys(paths))}

    def bytes_to_read(self, stripes: int) -> int:
        """Returns the size of the files of the release. It does not depend on `stripes`."""
        return sum(file.bytes for of in self.found.files.values() for file in of)

    def caveats(self) -> tuple[str, ...]:
        """Returns a caveat if files of the release are missing."""
        if not self.found.missing:
            return ()
        return (f"Only a part of the release. Missing: {', '.join(self.found.missing)}.",)

    def settings(self) -> Mapping[str, Any]:
        found = {"source": SOURCE, "layout": self.found.name, "language": self.lang}
        missing = {name: [*getattr(self.found, name)] for name in ("missing", "incomplete")}
        partial = {"partial": True, **missing} if self.found.missing else {}
        return {**found, **partial, **super().settings()}

    def signature_settings(self) -> Mapping[str, str]:
        partial = {"partial": "yes"} if self.found.missing else {}
        return {"lang": self.lang, "source": SOURCE, **partial}

    def stages(self) -> Sequence[Stage]:
        """Returns the stages: first unpack a .tar archive, then write the rows."""
        return Stage("unpack", self.unpack), Stage("adopt", self.adopt)

    def unpack(self, root: beam.Pipeline, place: Place) -> Unpacked:
        """Unpacks the files of a .tar archive."""
        names = [file.name for of in self.found.files.values() for file in of]
        names += [file.name for file in self.found.tables.values()]
        archives = [self.found.archive] if self.found.is_tar else []
        members = (
            root
            | "Archives" >> beam.Create(archives)
            | "Unpack"
            >> beam.FlatMap(unpack, frozenset(names), Scratch(place.scratch)).with_output_types(
                tuple[str, bytes]
            )
        )
        return Unpacked(members, self.open_ledger(root))

    def adopt(self, root: beam.Pipeline, place: Place, unpacked: Unpacked) -> None:
        """Writes the rows, and the statistics, manifest and card."""
        members = AsDict(unpacked.members)
        kind = self.kind_of_rows
        kind = kind._replace(schema=mark(kind.schema, self.marks()))
        formats = parse_formats(self.config.formats)
        how = Writing(place.folder, self.config.corpus, formats, kind, self.read, self.counting)
        written = (
            root
            | "SpreadShards" >> SpreadAll(self.shards(), of=ReleasedShard)
            | "WriteShard" >> beam.Map(write_shard, members, how).with_output_types(Written)
        )
        vocabularies = self.count_vocabularies(root, place.folder, place.scratch, members)
        keys = AsList(written | "Keys" >> beam.Map(lambda one: one.keys))
        self.close_ledger(
            place.folder,
            unpacked.ledger,
            functools.partial(account_for_released, account_for=self.account_for, unit=self.unit),
            outputs=(
                written | "Files" >> beam.FlatMap(lambda one: one.files),
                *(one.files for one in vocabularies),
            ),
            **{
                self.read_as: written | "CountRows" >> beam.FlatMap(rows_in, self.whole()),
                "stats": written
                | "Stats" >> beam.Map(lambda one: (one.split, one.stats))
                | "AddStats" >> beam.CombinePerKey(self.counting.add),
                **{
                    field: written
                    | f"Counts {field}" >> beam.FlatMap(counts_of, field)
                    | f"AddUp {field}" >> beam.CombinePerKey(sum)
                    for field in ("lengths", "notes")
                },
                "repeated": root
                | "CountRepeated" >> MapOnce(count_repeated, self.config.source, keys),
                "facts": tuple(one.stats for one in vocabularies),
            },
        )

    def whole(self) -> Sequence[str]:
        """Returns the splits that together have each row once."""
        return SPLITS

    def count_vocabularies(
        self, root: beam.Pipeline, folder: str, scratch: str, members: AsDict
    ) -> list[Any]:
        """Returns a CountedVocabulary for each vocabulary that is counted; by default none is."""
        return []

    def shards(self) -> list[ReleasedShard]:
        """Returns the shards of the build. Each is made of `files_per_shard` files of the release."""
        step = self.files_per_shard
        return [
            ReleasedShard(Shard(split, start // step, -(-len(files) // step)), files[start:][:step])
            for split, files in self.found.files.items()
            for start in range(0, len(files), step)
        ]


def rows_like(schema: pa.Schema) -> RowKind:
    """Returns the RowKind of sentences or paragraphs with these columns."""
    return RowKind(schema, repr, repr, values=tuple, weigh=lambda _: 1, batch=ROWS)
