"""N-gram models of finished builds, in ARPA format, and their scores on held-out text.

Method: interpolated modified Kneser-Ney smoothing (Chen and Goodman 1998), as computed by KenLM's lmplz
(Heafield et al. 2013); or Stupid Backoff (Brants et al. 2007), normalised as in Chelba et al. 2013. The input
is a finished build of any corpus with running text.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import apache_beam as beam

from corpusmill.pipelines.run.corpora import layout_of, paper_of, shape_of
from corpusmill.pipelines.run.corpus_build import BuildOfBuild, Place, Stage
from corpusmill.pipelines.run.editions import choose_build
from corpusmill.transforms.files.builds.finished_builds import (
    schema_of_files,
    text_bytes_of,
)
from corpusmill.transforms.files.builds.manifest import name_edition
from corpusmill.transforms.files.read_files import InputError, file_bytes_of
from corpusmill.transforms.models import count_ngrams, estimate_ngrams
from corpusmill.transforms.models.count_ngrams import PREDICTED, TRAIN, Dealer, is_of_train
from corpusmill.transforms.models.estimate_ngrams import Interpolate, WeighKneserNey
from corpusmill.transforms.models.gram_tables import cut_offs
from corpusmill.transforms.models.model_accounts import NGRAMS_DESCRIPTION, account_for_ngrams
from corpusmill.transforms.models.score_text import ScoreText

from .ngrams_settings import RELEASE, NgramsConfig

BUCKET_BYTES = 3_000_000  # Parquet bytes per bucket; the text is two to three times as large
MOST_BUCKETS = 1 << 12


class Text(NamedTuple):
    """The results of the stage "read". The text itself is in files."""

    blocks: beam.PCollection  # of TextBlock
    words: beam.PCollection  # one vocabulary, as a reference to a file
    ledger: beam.PCollection  # of Entry


class Estimated(NamedTuple):
    """The result of the stage "estimate": the probabilities of all n-grams, in parts."""

    parts: beam.PCollection  # of ModelPart


class Ngrams(BuildOfBuild):
    """A build of an n-gram model from a finished build."""

    config: NgramsConfig
    release = RELEASE
    description = NGRAMS_DESCRIPTION
    libraries = ("numpy",)

    def __init__(self, config: NgramsConfig):
        """Finds and checks the inputs.

        Raises InputError for a build that is missing, damaged or empty, ValueError for unknown splits.
        """
        self.config = config
        self.build = choose_build(config.corpus)
        layout, shape = layout_of(self.build.manifest), shape_of(self.build.manifest)
        if not layout or not shape:
            raise InputError(
                config.corpus, f"builds of {self.build.corpus} have no running text for a model"
            )
        self.records, self.stored_bytes = Counter[str](), Counter[str]()
        for file in self.build.manifest["outputs"]:
            if file["format"] == self.build.format and file["split"]:
                self.records[file["split"]] += file["records"]
                self.stored_bytes[file["split"]] += file["bytes"]
        if not self.records[TRAIN]:
            raise InputError(
                config.corpus, "the split train has no rows, so no model can be estimated"
            )
        held_out = (split for split, rows in self.records.items() if rows)
        held_out = (split for split in held_out if not split.startswith(TRAIN))
        self.splits = tuple(config.splits) or tuple(sorted(held_out))
        if unknown := set(self.splits) - set(self.records):
            raise ValueError(
                f"no such split: {', '.join(sorted(unknown))}; {self.build.name} has the"
                f" splits {', '.join(sorted(self.records))}"
            )
        self.source = layout._replace(column=shape.texts[0])
        self.files = count_ngrams.files_of_splits(self.build, (TRAIN, *self.splits))
        paths = [file.file.path for file in self.files]
        if self.source.column not in (names := schema_of_files(paths).names):
            raise InputError(
                paths[0], f"there is no column {self.source.column}; the file has {names}"
            )
        self.min_count = config.min_count or paper_of(self.build.signature).min_count
        self.cut = cut_offs(config.prune, config.order)

    @property
    def edition(self) -> str:
        """The name of the edition: the name of the input build, such as "lm1b-en", and the settings that are
        not defaults.
        """
        name = f"{self.build.corpus}-{self.build.edition}"
        return name_edition(name, self.variant(), self.config.original())

    def bytes_to_read(self, stripes: int) -> int:
        """Returns the total size of the input's Parquet files in bytes.

        It does not depend on `stripes`, the number of workers.
        """
        return sum(file_bytes_of(placed.file.path) for placed in self.files)

    @property
    def text_bytes(self) -> int:
        """Returns the size of the text of the split train in bytes, without compression."""
        paths = [one.file.path for one in self.files if one.file.split == TRAIN]
        return sum(text_bytes_of(path, self.source.column) for path in paths)

    def stages(self) -> Sequence[Stage]:
        """Returns the stages: read words, count n-grams, estimate the model, then write and score it."""
        return (
            Stage("read", self.read),
            Stage("count", self.count),
            Stage("estimate", self.estimate),
            Stage("write", self.write),
        )

    def read(self, root: beam.Pipeline, place: Place) -> Text:
        """Reads the text, and chooses the words of the vocabulary."""
        blocks = root | "ReadBlocks" >> count_ngrams.ReadBlocks(
            self.files, self.source, place.scratch
        )
        counted = (
            blocks
            | "MeasureBlocks" >> beam.Map(count_ngrams.measure_block)
            | "AddCounts" >> beam.CombinePerKey(count_ngrams.add_counts)
        )
        words = (
            blocks
            | "OfTrain" >> beam.Filter(is_of_train)
            | "ChooseWords"
            >> count_ngrams.ChooseWords(place.scratch, self.min_count, self.config.corpus)
        )
        return Text(blocks, words, self.open_ledger(root, counted=counted))

    def count(self, root: beam.Pipeline, place: Place, text: Text) -> count_ngrams.CountedGrams:
        """Counts the n-grams of the split train."""
        count = count_ngrams.CountGrams(self._dealer(place), text.words, self.cut)
        found: count_ngrams.CountedGrams = (
            text.blocks | "OfTrain" >> beam.Filter(is_of_train) | "CountGrams" >> count
        )
        return found

    def estimate(
        self, root: beam.Pipeline, place: Place, text: Text, counted: count_ngrams.CountedGrams
    ) -> Estimated:
        """Estimates the probabilities of n-grams from their counts."""
        dealer = self._dealer(place)
        weigh = (
            WeighKneserNey(dealer, counted.tallies, self.cut)
            if self.config.smoothing == "kneser-ney"
            else estimate_ngrams.WeighStupidBackoff(dealer, self.cut)
        )
        weighed = counted.grams | "WeighGrams" >> weigh
        return Estimated(weighed | "Interpolate" >> Interpolate(dealer, self.config.order))

    def write(
        self,
        root: beam.Pipeline,
        place: Place,
        text: Text,
        counted: count_ngrams.CountedGrams,
        model: Estimated,
    ) -> None:
        """Writes the model, and scores the held-out splits with it."""
        folder, order = place.folder, self.config.order
        held_out = text.blocks | "HeldOut" >> beam.Filter(lambda block: not is_of_train(block))
        files, scores = (held_out, model.parts) | "ScoreText" >> ScoreText(
            folder,
            self._dealer(place, MOST_BUCKETS),  # the buckets of the model have keys of their own
            text.words,
            order,
            [one for one in self.files if one.file.split != TRAIN],
            is_listed=self.source.paragraphs in PREDICTED,
        )
        expected = [(split, self.records[split]) for split in (TRAIN, *self.splits)]
        self.close_ledger(
            folder,
            text.ledger,
            account_for_ngrams,
            outputs=[
                model.parts
                | "WriteArpa"
                >> estimate_ngrams.WriteArpa(folder, place.scratch, text.words, order),
                files,
            ],
            tallies=counted.tallies,
            entries=model.parts
            | "GramsOfParts"
            >> beam.Map(lambda part: (part.order, part.grams)).with_output_types(tuple[int, int])
            | "AddGrams" >> beam.CombinePerKey(sum),
            scores=scores,
            expected=root | "Expected" >> beam.Create(expected),
        )

    def _dealer(self, place: Place, most_keys: int = count_ngrams.MOST_KEYS) -> Dealer:
        buckets = min(self.stored_bytes[TRAIN] // BUCKET_BYTES, MOST_BUCKETS - 1)
        return Dealer(place.scratch, 1 << buckets.bit_length(), most_keys)

    def settings(self) -> Mapping[str, Any]:
        config = self.config
        return {
            **super().settings(),
            "column": self.source.column,
            "order": config.order,
            "smoothing": config.smoothing,
            "min_count": self.min_count,
            "prune": list(config.prune),
            "splits": list(self.splits),
            "is_listed": self.source.paragraphs in PREDICTED,
        }

    def signature_settings(self) -> Mapping[str, str]:
        return {
            **super().signature_settings(),
            "order": str(self.config.order),
            "smoothing": self.config.smoothing,
            "min-count": str(self.min_count),
            "prune": "-".join(map(str, self.config.prune)) or "no",
        }
