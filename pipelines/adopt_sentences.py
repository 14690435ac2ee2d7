"""The released One Billion Word as a build, with the text files of the release."""

import functools
from typing import TypeAlias

import apache_beam as beam
from apache_beam.pvalue import AsDict, AsList

from corpusmill.pipelines.run.corpus_build import Place
from corpusmill.transforms.files.distribution import MapOnce, SpreadAll
from corpusmill.transforms.files.line_blocks import SCHEMA, count_lines
from corpusmill.transforms.files.read_files import InputError
from corpusmill.transforms.files.records import LineRange, LineShard
from corpusmill.transforms.files.released_layouts import ReleasedFile, open_released
from corpusmill.transforms.files.scratch import Scratch
from corpusmill.transforms.files.terminal import name_some
from corpusmill.transforms.news import sentence_accounts, write_lines
from corpusmill.transforms.news.count_vocabulary import CountVocabulary

from . import lm1b_settings
from .adopt import Adopted, Members, Unpacked, account_for_released, rows_like

Sentences: TypeAlias = tuple[ReleasedFile, str, int, int]
"""A file of the released One Billion Word, and its place: the last three fields are those of LineShard."""


def read_sentences(placed: Sentences, members: Members) -> LineShard:
    """Returns the sentences of a file."""
    file, series, shard, shards = placed
    with open_released(file, members) as stream:
        block = stream.read()
    if block and not block.endswith(b"\n"):
        raise InputError(file.place, "truncated: the last line has no line feed")
    return LineShard(series, shard, shards, block)


def store_sentences(shard: LineShard, scratch: Scratch) -> LineRange:
    """Stores the sentences of a file in scratch, to count their words."""
    return LineRange(shard.shard, count_lines(shard.block), scratch.put(shard.block))


class AdoptedSentences(Adopted):
    """A build that is made of the released One Billion Word. It also has the text files of the release."""

    base = lm1b_settings.DESCRIPTION
    kind_of_rows = rows_like(SCHEMA)

    def check(self) -> None:
        """Raises InputError if a part of the release has held-out text without the test set of the paper."""
        names = [file.name for file in self.found.files.get("test", ())]
        if names and not names[0].endswith(f"heldout-{0:05d}-of-00050"):
            raise InputError(
                self.config.source,
                f"the first held-out file is missing; there are {name_some(names)}",
            )
        self.description = self.description._replace(splits=sentence_accounts.SPLITS)

    def sentences(self) -> list[Sentences]:
        """Returns the files of the release. If some are missing, the others are numbered without gaps."""
        train, test = (self.found.files.get(split, ()) for split in ("train", "test"))
        whole = self.found.tables.get(sentence_accounts.HELD_OUT_FILE)
        series = sentence_accounts.TRAIN, sentence_accounts.HELDOUT
        return [
            *([(whole, series[0], 0, len(train) + 1)] if whole else []),
            *((file, series[0], n, len(train) + 1) for n, file in enumerate(train, 1)),
            *((file, series[1], n, len(test)) for n, file in enumerate(test)),
        ]

    def adopt(self, root: beam.Pipeline, place: Place, unpacked: Unpacked) -> None:
        """Writes the sentences as a build of One Billion Word has them, and counts their words."""
        config, folder = self.config, place.folder
        shards = (
            root
            | "SpreadFiles" >> SpreadAll(self.sentences())
            | "ReadSentences" >> beam.Map(read_sentences, AsDict(unpacked.members))
        )
        ranges = (
            shards
            | "InOneSplit" >> beam.Filter(lambda one: bool(sentence_accounts.split_of(*one[:2])))
            | "StoreSentences" >> beam.Map(store_sentences, Scratch(place.scratch))
        )
        vocabulary = (ranges, shards) | "CountVocabulary" >> CountVocabulary(
            folder, lm1b_settings.Lm1bConfig.min_count, scratch=place.scratch
        )
        written = shards | "WriteLines" >> write_lines.WriteLines(
            folder, config.corpus, self.lang, self.marks(), config.formats
        )
        checksums = MapOnce(write_lines.write_checksums, folder, AsList(written.md5s))
        self.close_ledger(
            folder,
            unpacked.ledger,
            functools.partial(
                account_for_released, account_for=sentence_accounts.account_for_released, unit=""
            ),
            outputs=(
                written.files,
                root | "WriteChecksums" >> checksums,
                vocabulary.files,
            ),
            splits=shards | "MeasureShards" >> write_lines.MeasureShards(),
            replaced=written.replaced | "AddReplaced" >> beam.CombinePerKey(sum),
            vocabulary=vocabulary.stats,
        )
