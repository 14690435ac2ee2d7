"""One Billion Word: news sentences, made unique, tokenised, shuffled and held out as in the original.

Method: Chelba et al., 2013, in the order of the published scripts, which is not that of the paper.
Where we differ and why: README, "One Billion Word".
"""

import dataclasses
import posixpath
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import apache_beam as beam

from pipelines.builds.provenance import code_versions
from pipelines.builds.stages import Place, Stage
from pipelines.settings.dump_settings import check_dump_settings, name_edition, name_variant
from transforms.duplicates.drop_near_duplicates import (
    NGRAM_WORDS,
    PERMUTATIONS,
    DropNearDuplicates,
    WithoutNearDuplicates,
)
from transforms.files.hash_inputs import HashInputs
from transforms.files.open_input import file_bytes_of, match_inputs
from transforms.files.write_rejected import WriteRejected
from transforms.lines.check_lines import check_lines
from transforms.lines.count_vocabulary import CorpusLines, CountVocabulary
from transforms.lines.map_unknown import MapUnknown
from transforms.lines.read_lines import ReadLines, line_bytes_of
from transforms.lines.shuffle_lines import ShuffleLines
from transforms.lines.sort_lines import SortLines, StoreRanges, run_bytes_for
from transforms.lines.tokenize_lines import TokenizeBlocks, TokenizeLines
from transforms.lines.write_checkpoint import WriteCheckpoint
from transforms.lines.write_lines import WriteChecksums, WriteLines
from transforms.lines.write_sentence_manifest import SentenceOutcome, WriteSentenceManifest
from transforms.text.builds.build_manifest import Description, Provenance
from transforms.text.lines.line_stats import measure_lines
from transforms.text.lines.line_table import FEATURE
from transforms.text.news.character_classes import CURRENT_PERL, PERL_VERSIONS

CORPUS = "lm1b"
VERSION = "1.0.0"
RELEASE_NOTES = {"1.0.0": "First build."}

DEDUPLICATE = ("raw", "tokenized")
MOST_COUNT = 2**62
MINHASH = {"permutations": PERMUTATIONS, "ngram_words": NGRAM_WORDS}
DESCRIPTION = Description(
    title="One Billion Word",
    about=(
        "News sentences, each once, tokenised and shuffled, with a held-out part; rebuilt with corpusmill"
        " after Chelba et al., 2013. The sentences are those of the input, under its terms."
    ),
    citation=(
        "@article{chelba-etal-2013-one,\n"
        "  title = {One Billion Word Benchmark for Measuring Progress in Statistical Language Modeling},\n"
        "  author = {Chelba, Ciprian and Mikolov, Tomas and Schuster, Mike and Ge, Qi and Brants, Thorsten"
        " and Koehn, Phillipp and Robinson, Tony},\n"
        "  journal = {arXiv:1312.3005},\n  year = {2013}\n}"
    ),
    license_id="other",
    features=(FEATURE,),
)

_YEAR = re.compile(r"news\.((?:19|20)\d\d)\.")


@dataclasses.dataclass(frozen=True)
class Lm1bConfig:
    """Settings of one build. Those that contradict each other raise ValueError.

    The defaults are those of the original scripts; every other value makes a corpus of its own.
    """

    input: Sequence[str]  # patterns of files of sentences, one a line, or of tar archives of them
    language: str = "en"  # whose rules and abbreviations the tokeniser has
    perl: str = CURRENT_PERL  # whose Unicode decides; that of the published corpus is 5.14
    members: Sequence[str] = ()  # patterns of names in archives; () are the news of the language
    dump_date: str = ""  # "2007-2011"; "" are the years in the names of the files
    on_corrupt: str = "fail"
    deduplicate: str = "raw"  # before all else, as the scripts; or "tokenized", as the paper
    near_duplicates: float = 0.0  # Jaccard similarity from which on one is dropped; 0 keeps all
    lower_case: bool = False
    min_count: int = 3  # words of training that occur less often are not in the vocabulary
    map_unknown: bool = False  # write words outside the vocabulary as <UNK>
    shards: int = 100  # of all; the first is held out
    heldout_shards: int = 50
    checkpoints: bool = False  # keep what the original leaves between its steps

    def __post_init__(self) -> None:
        check_dump_settings(self.input, self.dump_date, self.on_corrupt)
        if not re.fullmatch("[a-z]{2,3}", self.language):
            raise ValueError(f"language is {self.language!r}, and must be a code like en")
        if self.perl not in PERL_VERSIONS:
            raise ValueError(f"perl is one of {PERL_VERSIONS}, not {self.perl!r}")
        if self.deduplicate not in DEDUPLICATE:
            raise ValueError(f"deduplicate is one of {DEDUPLICATE}, not {self.deduplicate!r}")
        if not 0 <= self.near_duplicates < 1:
            raise ValueError(
                f"near_duplicates is {self.near_duplicates}, and not from 0 to below 1"
            )
        if not 0 < self.min_count <= MOST_COUNT:
            raise ValueError(f"min_count is {self.min_count}, and not from 1 to {MOST_COUNT}")
        if self.shards < 2 or self.heldout_shards < 1:
            raise ValueError(
                f"{self.shards} shards, {self.heldout_shards} held out: of the first there must be two at"
                " least, one of them for training, and of the other one"
            )
        if self.checkpoints and self.deduplicate != "raw":
            raise ValueError("checkpoints are those of the scripts, which deduplicate raw lines")

    def variant(self) -> dict[str, Any]:
        """The settings that make another corpus of the same input, all but the language."""
        return {
            "perl": self.perl,
            "deduplicate": self.deduplicate,
            "near_duplicates": self.near_duplicates,
            "lower_case": self.lower_case,
            "min_count": self.min_count,
            "map_unknown": self.map_unknown,
            "shards": self.shards,
            "heldout_shards": self.heldout_shards,
        }

    def edition(self) -> str:
        """The language, and what differs from the original scripts: "en", "en-shards-10"."""
        return name_edition(self.language, self.variant(), Lm1bConfig(self.input).variant())


class Sorted(NamedTuple):
    """What sorting hands on. The lines wait in files."""

    inputs: beam.PCollection  # of InputFile
    lines: beam.PCollection  # of int: lines that were read
    rejected: beam.PCollection  # of Rejected
    lost: beam.PCollection  # of LostBytes
    unterminated: beam.PCollection  # of str
    read: beam.PCollection  # of LineStats
    duplicates: beam.PCollection  # of int
    splitters: beam.PCollection  # one list[bytes]
    raw: beam.PCollection  # of LineRange: before they are tokenised; only where they are kept
    ranges: beam.PCollection  # of LineRange


class Lm1b:
    """One build: its inputs, found and looked at, and its pipeline."""

    def __init__(self, config: Lm1bConfig):
        """Raises InputError for inputs that are missing, empty, or visibly cut off."""
        self.config = config
        self.files = match_inputs(config.input)
        self.members = config.members or (f"news.20??.{config.language}.shuffled*",)
        check_lines(self.files, whole=config.on_corrupt == "fail", members=self.members)

    @property
    def path(self) -> tuple[str, ...]:
        """Where the build goes below the output folder: corpus, edition, years and version."""
        return CORPUS, self.config.edition(), f"{self.dump_date}-{VERSION}"

    @property
    def dump_date(self) -> str:
        """The years in the names of the files, unless the settings say something else."""
        names = map(posixpath.basename, self.files)
        years = sorted({year for name in names for year in _YEAR.findall(name)})
        return (
            self.config.dump_date or "-".join(dict.fromkeys((*years[:1], *years[-1:]))) or "undated"
        )

    def bytes_to_read(self, stripes: int) -> int:
        """Bytes of files that the workers will read."""
        return line_bytes_of(self.files, stripes, self.members)

    def stages(self) -> tuple[Stage, ...]:
        """The method: what is read and sorted, and what is made of it."""
        return Stage("sort", self.sort), Stage("write", self.write)

    def sort(self, root: beam.Pipeline, place: Place) -> Sorted:
        """Reads all lines, and gives each once, sorted and tokenised."""
        config = self.config
        lines = root | "ReadLines" >> ReadLines(
            self.files, place.stripes, config.on_corrupt, self.members
        )
        blocks = self._tokenize_before_sorting(lines.blocks)
        run_bytes = run_bytes_for(sum(map(file_bytes_of, self.files)))
        unique = blocks | "SortLines" >> SortLines(place.scratch, run_bytes=run_bytes)
        tokenized = self._tokenize_after_sorting(unique.ranges)
        return Sorted(
            inputs=root | "HashInputs" >> HashInputs(self.inputs()),
            lines=lines.lines,
            rejected=lines.rejected,
            lost=lines.lost,
            unterminated=lines.unterminated,
            read=blocks | "MeasureLines" >> beam.Map(measure_lines),
            duplicates=unique.duplicates,
            splitters=unique.splitters,
            raw=self._store_raw(unique.ranges, place.scratch),
            ranges=tokenized | "StoreRanges" >> StoreRanges(place.scratch),
        )

    def write(self, root: beam.Pipeline, place: Place, lines: Sorted) -> None:
        """Shuffles the lines, holds some out, counts words, and writes the build."""
        config, folder, scratch = self.config, place.folder, place.scratch
        different = self._drop_near_duplicates(lines.ranges, place)
        shuffled = different.kept | "ShuffleLines" >> ShuffleLines(
            scratch, config.shards, config.heldout_shards
        )
        counted = CorpusLines(different.kept, shuffled)
        vocabulary = counted | "CountVocabulary" >> CountVocabulary(
            folder, config.min_count, scratch=scratch
        )
        corpus = self._map_unknown(shuffled, vocabulary.vocabulary, scratch)
        written = corpus | "WriteLines" >> WriteLines(folder, CORPUS, config.language)
        outputs = (
            written.files,
            written.md5s | "WriteChecksums" >> WriteChecksums(folder),
            vocabulary.files,
            different.removed,
            lines.rejected | "WriteRejected" >> WriteRejected(folder),
            *self._keep_checkpoints(lines, folder),
        )
        SentenceOutcome(
            inputs=lines.inputs,
            outputs=outputs | "Outputs" >> beam.Flatten(),
            lines=lines.lines,
            rejected=lines.rejected,
            lost=lines.lost,
            unterminated=lines.unterminated,
            read=lines.read,
            duplicates=lines.duplicates,
            ranges=lines.ranges,
            near_duplicates=different.counts,
            shards=corpus,
            replaced=written.replaced,
            vocabulary=vocabulary.stats,
        ) | "WriteManifest" >> WriteSentenceManifest(folder, self.provenance(), DESCRIPTION)

    @property
    def _rules(self) -> tuple[str, bool, str]:
        return self.config.language, self.config.lower_case, self.config.perl

    def _tokenize_before_sorting(self, blocks: beam.PCollection) -> beam.PCollection:
        if self.config.deduplicate == "raw":
            return blocks
        return blocks | "TokenizeBlocks" >> TokenizeBlocks(*self._rules)

    def _tokenize_after_sorting(self, ranges: beam.PCollection) -> beam.PCollection:
        if self.config.deduplicate != "raw":
            return ranges
        return ranges | "TokenizeLines" >> TokenizeLines(*self._rules)

    def _store_raw(self, ranges: beam.PCollection, scratch: str) -> beam.PCollection:
        if not self.config.checkpoints:
            return ranges.pipeline | "NoneKept" >> beam.Create([])
        return ranges | "StoreRaw" >> StoreRanges(scratch)

    def _drop_near_duplicates(
        self, ranges: beam.PCollection, place: Place
    ) -> WithoutNearDuplicates:
        if not self.config.near_duplicates:
            root = ranges.pipeline
            none = (root | name >> beam.Create([]) for name in ("NoneRemoved", "NoneCounted"))
            return WithoutNearDuplicates(ranges, *none)
        drop = DropNearDuplicates(place.folder, self.config.near_duplicates, scratch=place.scratch)
        different: WithoutNearDuplicates = ranges | "DropNearDuplicates" >> drop
        return different

    def _map_unknown(
        self, shards: beam.PCollection, vocabulary: beam.PCollection, scratch: str
    ) -> beam.PCollection:
        if not self.config.map_unknown:
            return shards
        return shards | "MapUnknown" >> MapUnknown(scratch, vocabulary)

    def _keep_checkpoints(self, lines: Sorted, folder: str) -> tuple[beam.PCollection, ...]:
        if not self.config.checkpoints:
            return ()
        name = f"news.20XX.{self.config.language}.shuffled.sorted"
        keep_sorted = WriteCheckpoint(folder, name, lines.splitters)
        keep_tokenized = WriteCheckpoint(folder, f"{name}.tokenized", lines.splitters)
        return (
            lines.raw | "KeepSorted" >> keep_sorted,
            lines.ranges | "KeepTokenized" >> keep_tokenized,
        )

    def inputs(self) -> Mapping[str, Sequence[str]]:
        """Role → paths of all files that decide about the output."""
        return {"news": self.files}

    def caveats(self) -> tuple[str, ...]:
        """What this build cannot know, for want of an input: nothing, it has the one that there is."""
        return ()

    def provenance(self) -> Provenance:
        """What the manifest says of the build before it runs."""
        config = self.config
        variant = config.variant()
        return Provenance(
            corpus=CORPUS,
            edition=config.edition(),
            dump_date=self.dump_date,
            version=VERSION,
            release_notes=RELEASE_NOTES,
            settings={
                "language": config.language,
                "members": list(self.members),
                "on_corrupt": config.on_corrupt,
                **variant,
                "minhash": MINHASH if config.near_duplicates else None,
                "checkpoints": config.checkpoints,
            },
            caveats=self.caveats(),
            code=code_versions("numpy"),
            signature_settings={
                "lang": config.language,  # the edition would tell what differs a second time
                **name_variant(variant),
            },
        )
