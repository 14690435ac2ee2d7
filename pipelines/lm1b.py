"""One Billion Word: news sentences that are deduplicated, tokenised, shuffled and split as in the original.

Method: Chelba et al., 2013. The steps are in the order of the published scripts, which is not that of the
paper. Other differences and their reasons: pipelines/docs/lm1b.md.
"""

import itertools
import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import apache_beam as beam
from apache_beam.pvalue import AsList, AsSingleton

from corpusmill.pipelines.run.corpus_build import CorpusBuild, Place, Stage
from corpusmill.pipelines.run.settings import MANIFEST
from corpusmill.transforms.files import language_of_text, text_kinds
from corpusmill.transforms.files.builds.ledger import OTHER_FORMAT, OTHER_LANGUAGE, Doubt
from corpusmill.transforms.files.builds.manifest import limit_caveat
from corpusmill.transforms.files.distribution import MapOnce
from corpusmill.transforms.files.line_blocks import add_line_stats, measure_lines
from corpusmill.transforms.files.read_files import file_bytes_of, match_inputs
from corpusmill.transforms.files.read_lines import ReadLines, line_bytes_of
from corpusmill.transforms.files.scratch import Scratch
from corpusmill.transforms.news import sort_lines, write_lines
from corpusmill.transforms.news.count_vocabulary import CountVocabulary, MapUnknown
from corpusmill.transforms.news.sentence_accounts import account_for_sentences

from .lm1b_settings import DESCRIPTION, RELEASE, Lm1bConfig

_YEAR = re.compile(r"news\.((?:19|20)\d\d)\.")


class Sorted(NamedTuple):
    """The results of the stage "sort". The lines themselves are in files."""

    rejected: beam.PCollection  # of Rejected
    splitters: beam.PCollection  # one list[bytes]: the lines at which the ranges begin
    raw: beam.PCollection  # of LineRange, before tokenisation; empty without checkpoints
    ranges: beam.PCollection  # of LineRange, tokenised
    ledger: beam.PCollection  # of Entry


class Lm1b(CorpusBuild):
    """A build of One Billion Word."""

    config: Lm1bConfig
    release = RELEASE
    description = DESCRIPTION
    libraries = ("numpy",)

    def __init__(self, config: Lm1bConfig):
        """Finds and checks the inputs.

        Raises InputError for inputs that are missing, empty, or visibly truncated.
        """
        self.config = config
        self.lang = config.language
        self.files = match_inputs(config.input)
        self.members = config.members or (f"news.20??.{config.language}.shuffled*",)
        text_kinds.check_lines(self.files, whole=config.on_corrupt == "fail", members=self.members)

    def date_of_inputs(self) -> str:
        """Returns the first and the last year in the names of the files, such as "2007-2011".

        Returns "" if no name contains a year.
        """
        names = map(posixpath.basename, self.files)
        years = sorted({year for name in names for year in _YEAR.findall(name)})
        return "-".join(dict.fromkeys((*years[:1], *years[-1:])))

    def bytes_to_read(self, stripes: int) -> int:
        """Returns the number of bytes that all workers together will read from the input files.

        A file that can only be read from its beginning, such as a .gz file, is counted once for each worker
        that reads it.

        Args:
          stripes: The number of workers.
        """
        return line_bytes_of(self.files, stripes, self.members)

    def doubts(self) -> Sequence[Doubt]:
        """Returns a Doubt for each sign of wrong input.

        There are three signs. The lines of a file seem to be records, such as JSON, instead of sentences; a
        Doubt is returned only for the first such file. Most of the text at the beginnings of the files seems
        to be in a language other than the one in the settings. The language code in the settings is unknown.
        """
        samples = list(text_kinds.sample_lines(self.files, self.members))
        return *_find_records(samples), *_find_language(samples, self.config.language)

    def stages(self) -> tuple[Stage, ...]:
        """Returns the stages: first read and sort the lines, then write the corpus."""
        return Stage("sort", self.sort), Stage("write", self.write)

    def sort(self, root: beam.Pipeline, place: Place) -> Sorted:
        """Reads all lines, drops repeated ones, and sorts and tokenises the others."""
        config = self.config
        lines = root | "ReadLines" >> ReadLines(
            self.files, place.stripes, config.on_corrupt, self.members, limit=config.limit
        )
        rules = config.language, config.lower_case, config.perl
        blocks = lines.blocks
        if config.deduplicate == "tokenized":
            blocks = blocks | "TokenizeBlocks" >> beam.Map(sort_lines.tokenize_block, *rules)
        run_bytes = sort_lines.run_bytes_for(sum(map(file_bytes_of, self.files)))
        unique = blocks | "SortLines" >> sort_lines.SortLines(place.scratch, run_bytes=run_bytes)
        tokenized = unique.ranges
        if config.deduplicate == "raw":
            tokenized = tokenized | "TokenizeLines" >> beam.Map(sort_lines.tokenize_range, *rules)
        store = beam.Map(sort_lines.store_range, Scratch(place.scratch))
        ranges = tokenized | "StoreRanges" >> store
        raw = unique.ranges if config.checkpoints else root | "NoneKept" >> beam.Create([])
        measured = blocks | "MeasureBlocks" >> beam.Map(measure_lines)
        return Sorted(
            rejected=lines.rejected,
            splitters=unique.splitters,
            raw=raw | "StoreRaw" >> store,
            ranges=ranges,
            ledger=self.open_ledger(
                root,
                lost=lines.lost,
                lines=lines.lines,
                unterminated=lines.unterminated,
                measured=measured | "AddUp" >> beam.CombineGlobally(add_line_stats),
                duplicates=unique.duplicates,
                unique=ranges | "CountLines" >> beam.Map(write_lines.lines_of_range),
            ),
        )

    def write(self, root: beam.Pipeline, place: Place, lines: Sorted) -> None:
        """Shuffles the lines, sets some of them apart as held-out data, counts words, and
        writes the build.
        """
        config, folder, scratch = self.config, place.folder, place.scratch
        shuffled = lines.ranges | "ShuffleLines" >> sort_lines.ShuffleLines(
            scratch, config.shards, config.heldout_shards
        )
        vocabulary = (lines.ranges, shuffled) | "CountVocabulary" >> CountVocabulary(
            folder, config.min_count, scratch=scratch
        )
        corpus = shuffled
        if config.map_unknown:
            corpus = shuffled | "MapUnknown" >> MapUnknown(scratch, vocabulary.words)
        written = corpus | "WriteLines" >> write_lines.WriteLines(
            folder, RELEASE.corpus, config.language, self.marks(), config.formats
        )
        checksums = MapOnce(write_lines.write_checksums, folder, AsList(written.md5s))
        self.close_ledger(
            folder,
            lines.ledger,
            account_for_sentences,
            outputs=(
                written.files,
                root | "WriteChecksums" >> checksums,
                vocabulary.files,
                *self._keep_checkpoints(lines, folder),
            ),
            rejected=lines.rejected,
            splits=corpus | "MeasureShards" >> write_lines.MeasureShards(),
            replaced=written.replaced | "AddReplaced" >> beam.CombinePerKey(sum),
            vocabulary=vocabulary.stats,
        )

    def _keep_checkpoints(self, lines: Sorted, folder: str) -> tuple[beam.PCollection, ...]:
        if not self.config.checkpoints:
            return ()
        name = f"news.20XX.{self.config.language}.shuffled.sorted"
        kept = {name: lines.raw, f"{name}.tokenized": lines.ranges}
        splitters = AsSingleton(lines.splitters)
        return tuple(
            ranges | f"Keep {base}" >> beam.Map(write_lines.write_range, folder, base, splitters)
            for base, ranges in kept.items()
        )

    def inputs(self) -> Mapping[str, Sequence[str]]:
        return {"news": self.files}

    def caveats(self) -> tuple[str, ...]:
        """Returns a sentence that warns users if only the first part of the input is read; otherwise ()."""
        return limit_caveat(self.config.limit, "lines")

    def settings(self) -> Mapping[str, Any]:
        config = self.config
        return {
            "language": config.language,
            "members": list(self.members),
            "on_corrupt": config.on_corrupt,
            **self.variant(),
            "checkpoints": config.checkpoints,
            **config.part(MANIFEST),
        }


Samples = Sequence[tuple[str, Sequence[str]]]  # path of a file, its first lines


def _find_records(samples: Samples) -> Iterator[Doubt]:
    for path, lines in samples:
        if found := text_kinds.describe_format(lines):
            message = (
                f"{path}: expected one sentence per line, but the beginning of the file is {found}"
            )
            yield Doubt(OTHER_FORMAT, message)
            return


def _find_language(samples: Samples, code: str) -> Iterator[Doubt]:
    if not language_of_text.is_code(code):
        yield Doubt(OTHER_LANGUAGE, f"no language has the code {code!r}")
    elif foreign := language_of_text.find_foreign_text(
        itertools.chain(*(lines for _, lines in samples)), code
    ):
        yield Doubt(
            OTHER_LANGUAGE,
            f"language is {code} ({language_of_text.name_of(code)}), but {foreign.passages:,} of"
            f" {foreign.of:,} passages at the beginnings of the files are in another one, most of them in"
            f" {foreign.language}",
        )
