"""The findings of a build of books → stats.json, manifest.json, README.md and the metadata for TFDS."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import apache_beam as beam
from apache_beam.pvalue import AsDict, AsList, AsSingleton

from transforms.files.open_input import InputError
from transforms.files.write_files import write_texts
from transforms.files.write_rejected import CountReasons
from transforms.records import InputFile, OutputFile
from transforms.text.books.book_accounts import (
    FoundBooks,
    check_accounts,
    make_counts,
    make_stats,
)
from transforms.text.books.book_card import make_book_card
from transforms.text.books.book_stats import BookStats
from transforms.text.builds import build_manifest
from transforms.text.builds.build_manifest import Description, Provenance
from transforms.text.builds.build_texts import make_texts

Sections = Callable[[Mapping[str, Any]], Sequence[str]]  # of a card, from stats.json


class BookOutcome(NamedTuple):
    """The collections that the manifest of a corpus of books sums up."""

    inputs: beam.PCollection  # of InputFile
    outputs: beam.PCollection  # of OutputFile
    files: beam.PCollection  # of int: files that were looked at as books
    rejected: beam.PCollection  # of Rejected: such files that were not kept
    lost: beam.PCollection  # of NamedTuples: parts of the input that could not be read
    stats: beam.PCollection  # of (split, BookStats)
    facts: beam.PCollection  # of (name, what stats.json says under it), each name once


class BookCorpus(NamedTuple):
    """What is the same for all builds of a corpus."""

    description: Description
    splits: Sequence[str]
    whole: Sequence[str]  # those of them that all books are in, once
    sections: Sections


class WriteBookManifest(beam.PTransform):
    """BookOutcome → PCollection[OutputFile].

    Raises AccountingError where kept + rejected ≠ read, and InputError where not one book is left.

    Args:
      folder: of the build.
    """

    def __init__(self, folder: str, provenance: Provenance, corpus: BookCorpus):
        super().__init__()
        self.folder = folder
        self.provenance = provenance
        self.corpus = corpus

    def expand(self, outcome: BookOutcome) -> beam.PCollection:
        return (
            outcome.files.pipeline
            | "Once" >> beam.Create([self.folder])
            | "WriteManifest"
            >> beam.FlatMap(
                write_manifest,
                self.provenance,
                self.corpus,
                inputs=AsList(outcome.inputs),
                outputs=AsList(outcome.outputs),
                files=AsSingleton(outcome.files | "AddFiles" >> beam.CombineGlobally(sum)),
                rejections=AsDict(outcome.rejected | "CountReasons" >> CountReasons()),
                lost=AsList(outcome.lost),
                stats=AsDict(outcome.stats),
                facts=AsDict(outcome.facts),
            )
        )


def write_manifest(
    folder: str,
    provenance: Provenance,
    corpus: BookCorpus,
    *,
    inputs: Sequence[InputFile],
    outputs: Sequence[OutputFile],
    files: int,
    rejections: Mapping[tuple[str, str], int],
    lost: Sequence[Any],
    stats: Mapping[str, BookStats],
    facts: Mapping[str, Any],
) -> Iterable[OutputFile]:
    """Checks the accounts and writes what a build says of itself."""
    splits = {split: stats.get(split, BookStats()) for split in corpus.splits}
    found = FoundBooks(files, rejections, splits, corpus.whole, facts)
    check_accounts(found, outputs)
    if not found.total.books:
        names = ", ".join(sorted(file.name for file in inputs if file.role == "books"))
        raise InputError(names, f"no book is left of {files:,} files: {_most(rejections)}")
    counts = make_stats(found)
    manifest = build_manifest.assemble(
        provenance, inputs, make_counts(found), [one._asdict() for one in lost], outputs
    ) | {"stats": counts}
    card = make_book_card(
        corpus.description, manifest, counts, corpus.splits, corpus.sections(counts)
    )
    yield from write_texts(
        folder,
        make_texts(provenance, corpus.description, manifest, counts, card, outputs, corpus.splits),
    )


def _most(rejections: Mapping[tuple[str, str], int]) -> str:
    """The most frequent reasons, in words."""
    often = sorted(rejections.items(), key=lambda one: (-one[1], one[0]))[:3]
    return ", ".join(f"{count:,} {reason}" for (_, reason), count in often) or "there was none"
