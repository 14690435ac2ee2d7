"""A small corpus of shuffled sentences as a build leaves it, for tests of what is written and read."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import apache_beam as beam
from apache_beam.pvalue import AsList

from corpusmill.transforms.files.builds.ledger import INPUTS, LOST, OUTPUTS, REJECTED
from corpusmill.transforms.files.builds.manifest import Description, Provenance
from corpusmill.transforms.files.builds.write_manifest import Enter, WriteManifest
from corpusmill.transforms.files.distribution import MapOnce
from corpusmill.transforms.files.line_blocks import block_of, measure_lines
from corpusmill.transforms.files.records import (
    InputFile,
    LineShard,
    Rejected,
)
from corpusmill.transforms.files.write_rows import CountReasons
from corpusmill.transforms.news.count_vocabulary import CountVocabulary
from corpusmill.transforms.news.sentence_accounts import SPLITS, account_for_sentences
from corpusmill.transforms.news.write_lines import (
    MeasureShards,
    WriteLines,
    lines_of_range,
    write_checksums,
)
from tests.makers.line_ranges import cut
from tests.tools.run_pipeline import Outcome, run_pipeline

SHARDS, HELDOUT_SHARDS = 4, 3
LINES_IN_RANGE = 50

DESCRIPTION = Description(
    "Sentences",
    "Sentences about nothing.",
    "@misc{sentences}",
    "other",
    features=("text",),
    splits=SPLITS,
)
PROVENANCE = Provenance(
    corpus="lm1b",
    edition="en",
    dump_date="2007-2011",
    version="1.0.0",
    release_notes={"1.0.0": "First build."},
    settings={"language": "en"},
    caveats=("Before.",),
    code={"corpusmill": "0.1.0"},
    signature_settings={"dedup": "raw", "shards": str(SHARDS)},
)


class Lost(NamedTuple):
    """A part of an input that could not be read."""

    name: str
    start: int


def sentences(count: int) -> list[bytes]:
    """Different lines of 3 to 6 words, sorted; some are not ASCII, each third word is rare."""
    lines = [f"{'Ніч' if n % 7 else 'Night'} {n * n} {'falls ' * (n % 4)}." for n in range(count)]
    return sorted(line.encode("utf-8") for line in lines)


def deal(lines: Sequence[bytes]) -> list[LineShard]:
    """All shards of a corpus, in another order than that of the original: by number, backwards."""
    train = [lines[shard::SHARDS][::-1] for shard in range(SHARDS)]
    heldout = [train[0][shard::HELDOUT_SHARDS] for shard in range(HELDOUT_SHARDS)]
    return [
        LineShard(series, shard, len(parts), block_of(part))
        for series, parts in (("train", train), ("heldout", heldout))
        for shard, part in enumerate(parts)
    ]


def write_corpus(
    folder: Path,
    lines: Sequence[bytes],
    *,
    repeated: Sequence[bytes] = (),
    rejected: Sequence[Rejected] = (),
    lost: Sequence[Lost] = (),
    unterminated: Sequence[str] = (),
) -> Outcome:
    """Deals sorted lines to shards and writes all that a build has of them, but COMPLETED.

    Args:
      repeated: lines that were there more than once, one for each time they were left out.
    """
    read = len(lines) + len(repeated) + len(rejected)
    ranges = cut(lines, LINES_IN_RANGE)
    stats = [measure_lines(block_of(part)) for part in (lines, repeated)]

    def build(root: beam.Pipeline) -> dict[str, beam.PCollection]:
        def create(label: str, values: Sequence[object]) -> beam.PCollection:
            return root | label >> beam.Create(list(values))

        sorted_lines = create("Ranges", ranges)
        shards = create("Shards", deal(lines))
        written = shards | WriteLines(str(folder))
        counted = (sorted_lines, shards) | CountVocabulary(str(folder), buckets=2)
        checksums = root | MapOnce(write_checksums, str(folder), AsList(written.md5s))
        outputs = (written.files, checksums, counted.files) | beam.Flatten()
        ledger = {
            INPUTS: create("Inputs", [InputFile("news", "news.2007.en.shuffled.gz", 7, "cd")]),
            OUTPUTS: outputs,
            REJECTED: create("Rejected", rejected) | CountReasons(),
            LOST: create("Lost", lost),
            "lines": create("Lines", [read // 2, read - read // 2]),
            "unterminated": create("Unterminated", unterminated),
            "duplicates": create("Duplicates", [1] * len(repeated)),
            "unique": sorted_lines | beam.Map(lines_of_range),
            "splits": shards | MeasureShards(),
            "replaced": written.replaced | beam.CombinePerKey(sum),
            "vocabulary": counted.stats,
            "measured": create("Measured", stats),
        } | Enter()
        manifest = ledger | WriteManifest(
            str(folder), PROVENANCE, DESCRIPTION, account_for_sentences
        )
        return {"outputs": outputs, "manifest": manifest}

    return run_pipeline(build)
