"""One SentencePiece vocabulary for many languages, learned from a sample of their corpora.

The sample gives small languages a larger share than they have in the corpora (temperature sampling). Method:
Goyal et al. 2022 (FLORES-101), section 5.2, "Training SPM". The inputs are finished builds, and files with
one sentence per line.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import apache_beam as beam
from apache_beam.io.filesystems import FileSystems

from corpusmill.pipelines.run.corpora import layouts
from corpusmill.pipelines.run.corpus_build import CorpusBuild
from corpusmill.pipelines.run.dump_settings import name_edition, name_variant
from corpusmill.pipelines.run.stages import Place, Stage
from corpusmill.pipelines.subword_sources import find_evaluation, find_sources
from corpusmill.pipelines.subwords_settings import PAPER_LANGUAGES, RELEASE, UNDATED, SubwordsConfig
from corpusmill.transforms.files.builds.finished_builds import MANIFEST, Build, age_of
from corpusmill.transforms.files.open_input import file_bytes_of
from corpusmill.transforms.files.read_lines import line_bytes_of
from corpusmill.transforms.models.choose_sentences import ChooseSentences, Sampling
from corpusmill.transforms.models.count_pieces import CountPieces
from corpusmill.transforms.models.count_sample_words import CountSampleWords
from corpusmill.transforms.models.piece_accounts import DESCRIPTION, account_for_pieces
from corpusmill.transforms.models.piece_model import TRAINER
from corpusmill.transforms.models.read_sentences import MEMBERS, ReadSentences
from corpusmill.transforms.models.train_pieces import TrainPieces, write_pieces


class Sample(NamedTuple):
    """The results of the stage "sample". The sentences and words themselves are in files."""

    blocks: beam.PCollection  # of SentenceBlock: all sentences
    rejected: beam.PCollection  # of Rejected
    choices: beam.PCollection  # one mapping: language → Choice
    words: beam.PCollection  # of (bucket, reference to a file of word counts)
    ledger: beam.PCollection  # of Entry


class Trained(NamedTuple):
    """The result of the stage "train": the SentencePiece model, and counts of its training data."""

    trained: beam.PCollection  # one TrainedPieces


class Subwords(CorpusBuild):
    """A build of a vocabulary from corpora in many languages."""

    config: SubwordsConfig
    release = RELEASE
    description = DESCRIPTION
    libraries = ("sentencex", "langcodes")

    def __init__(self, config: SubwordsConfig):
        """Finds and checks the inputs.

        Raises InputError for missing or damaged corpora, ValueError for files without a language.
        """
        self.config = config
        self.sources = find_sources(config.corpora, layouts())
        self.files = find_evaluation(config.evaluate)
        self.languages = tuple(sorted({*self.sources.builds, *self.sources.texts}))

    @property
    def edition(self) -> str:
        """The name of the edition: number of languages, size, and the settings that differ from those in
        the paper (Goyal et al. 2022).

        An example is "multilingual-101-256000".
        """
        name = f"multilingual-{len(self.languages)}-{self.config.size}"
        return name_edition(name, self.config.variant(), SubwordsConfig(["."]).variant())

    def date_of_inputs(self) -> str:
        """Returns the dump date of the newest input build; "latest" if no input is a build."""
        return max(map(age_of, self._builds()), default=(False, UNDATED))[1]

    def _builds(self) -> list[Build]:
        return [build for builds in self.sources.builds.values() for build in builds]

    def bytes_to_read(self, stripes: int) -> int:
        """Returns the number of bytes that all workers together will read from text files and Parquet files.

        A text file that can only be read from its beginning, such as a .gz file, is counted once for each
        worker that reads it.

        Args:
          stripes: The number of workers.
        """
        paths = [path for build in self._builds() for of in build.files.values() for path in of]
        texts = [path for paths in self.sources.texts.values() for path in paths]
        return sum(map(file_bytes_of, paths)) + line_bytes_of(sorted(texts), stripes, MEMBERS)

    def stages(self) -> tuple[Stage, ...]:
        """Returns the stages: sample sentences, train the vocabulary, then count pieces."""
        return (
            Stage("sample", self.draw_sample),
            Stage("train", self.train),
            Stage("count", self.count),
        )

    def draw_sample(self, root: beam.Pipeline, place: Place) -> Sample:
        """Reads all sentences, chooses those to learn from, and counts their words."""
        config = self.config
        sampling = Sampling(self.languages, config.temperature, config.sentences)
        blocks, rejected = root | "ReadSentences" >> ReadSentences(
            self.sources, place.scratch, config.seed, place.stripes
        )
        choices = blocks | "ChooseSentences" >> ChooseSentences(sampling)
        counted = blocks | "CountSampleWords" >> CountSampleWords(place.scratch, choices)
        return Sample(
            blocks=blocks,
            rejected=rejected,
            choices=choices,
            words=counted.words,
            ledger=self.open_ledger(root, sampled=counted.sampled),
        )

    def train(self, root: beam.Pipeline, place: Place, sample: Sample) -> Trained:
        """Trains the vocabulary on the word counts of the sample."""
        return Trained(sample.words | "TrainPieces" >> TrainPieces(self.config.pieces()))

    def count(self, root: beam.Pipeline, place: Place, sample: Sample, learned: Trained) -> None:
        """Writes the vocabulary, and counts its pieces in the held-out sentences."""
        folder, trained, choices = place.folder, learned.trained, sample.choices
        self.close_ledger(
            folder,
            sample.ledger,
            account_for_pieces,
            outputs=[trained | "WritePieces" >> beam.FlatMap(write_pieces, folder)],
            rejected=sample.rejected,
            trained=trained,
            choices=choices,
            stats=sample.blocks | "CountPieces" >> CountPieces(trained, choices, self.files),
        )

    def inputs(self) -> Mapping[str, Sequence[str]]:
        """Returns role → paths of the input files.

        Of a build, only the manifest is listed, because it contains the hashes of all other files.
        """
        builds = {
            f"{language} {build.signature}": [FileSystems.join(build.folder, MANIFEST)]
            for language, builds in self.sources.builds.items()
            for build in builds
        }
        texts = {f"{language} lines": paths for language, paths in self.sources.texts.items()}
        evaluated: dict[str, list[str]] = {}
        for file in self.files:
            evaluated.setdefault(f"{file.language} evaluated", []).append(file.path)
        return builds | texts | evaluated

    def caveats(self) -> tuple[str, ...]:
        """Returns caveats about differences between this vocabulary and the one in the paper."""
        found = []
        if len(self.languages) != PAPER_LANGUAGES:
            found.append(
                f"Learned from {len(self.languages)} languages: {', '.join(self.languages)}. The paper's is"
                f" learned from {PAPER_LANGUAGES}; pieces are longer if fewer languages share them."
            )
        if any(build.corpus == "lm1b" for build in self._builds()):
            found.append(
                "Sentences of One Billion Word are tokenised: there is a space before most punctuation marks."
            )
        return tuple(found)

    def settings(self) -> Mapping[str, Any]:
        config = self.config
        return {
            "languages": list(self.languages),
            "size": config.size,
            **config.variant(),
            **TRAINER,
        }

    def signature_settings(self) -> Mapping[str, str]:
        config = self.config
        return {
            "lang": f"{len(self.languages)}-languages",
            "size": str(config.size),
            **name_variant(config.variant()),
            "seed": str(config.seed),
        }
