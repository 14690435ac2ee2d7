"""One SentencePiece vocabulary over many languages, learned from corpora sampled with a temperature.

Method: Goyal et al. 2022 (FLORES-101), section 5.2, "Training SPM". Works on finished builds and on files of
lines.
"""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import apache_beam as beam
from apache_beam.io.filesystems import FileSystems

from pipelines.builds.provenance import code_versions
from pipelines.builds.stages import Place, Stage
from pipelines.corpora import layouts
from pipelines.settings.dump_settings import name_edition, name_variant
from pipelines.settings.subword_sources import find_evaluation, find_sources, parse_argument
from transforms.builds.read_corpus import MANIFEST, Build, age_of
from transforms.files.hash_inputs import HashInputs
from transforms.files.open_input import file_bytes_of
from transforms.files.write_rejected import CountReasons, WriteRejected
from transforms.lines.read_lines import line_bytes_of
from transforms.text.builds.build_manifest import Provenance
from transforms.text.vocabularies.piece_model import TRAINER, PieceSettings
from transforms.text.vocabularies.temperature_sampling import check_temperature
from transforms.vocabularies.choose_sentences import ChooseSentences, Sampling
from transforms.vocabularies.count_pieces import CountPieces
from transforms.vocabularies.count_sample_words import CountSampleWords
from transforms.vocabularies.read_sentences import MEMBERS, ReadSentences
from transforms.vocabularies.train_pieces import TrainPieces, WritePieces
from transforms.vocabularies.write_piece_manifest import PieceOutcome, WritePieceManifest

CORPUS = "subwords"
VERSION = "1.0.0"
RELEASE_NOTES = {"1.0.0": "First build."}
PAPER_LANGUAGES = 101
UNDATED = "latest"
MOST_SENTENCES = 10**12  # the counts of words are 63 bits wide


@dataclasses.dataclass(frozen=True)
class SubwordsConfig:
    """Settings of one build; the defaults are the paper's. Those that cannot be raise ValueError."""

    corpora: Sequence[
        str
    ]  # folders of finished builds, LANG=folder, or LANG=pattern of files of lines
    evaluate: Sequence[str] = ()  # folders with dev/*.dev or devtest/*.devtest, as FLORES has them
    dump_date: str = ""  # "" is that of the newest build
    size: int = 256_000  # pieces, at most
    temperature: str = "5"  # in decimal digits
    sentences: int = 100_000_000  # to learn from, of all languages together; no more than there are
    character_coverage: float = 0.9995
    normalization: str = "nmt_nfkc"
    byte_fallback: bool = False
    min_count: int = 1  # words that the sample has less often are not learned from
    seed: int = 0  # of the choice of sentences

    def __post_init__(self) -> None:
        if not self.corpora:
            raise ValueError("no corpus is named")
        for argument in self.corpora:
            parse_argument(argument)
        check_temperature(self.temperature)
        if not 1 <= self.sentences <= MOST_SENTENCES:
            raise ValueError(f"sentences is {self.sentences}, and not from 1 to {MOST_SENTENCES}")
        if not all(letter.isalnum() or letter in ".-_" for letter in self.dump_date):
            raise ValueError(
                f"dump_date is {self.dump_date!r}, and must be letters, digits, . and -"
            )
        self.pieces()

    def pieces(self) -> PieceSettings:
        """What the trainer is told."""
        return PieceSettings(
            self.size,
            self.character_coverage,
            self.normalization,
            self.byte_fallback,
            self.min_count,
        )

    def variant(self) -> dict[str, Any]:
        """The settings that make another vocabulary of the same corpora, all but the size."""
        return {
            "temperature": self.temperature,
            "sentences": self.sentences,
            "character_coverage": self.character_coverage,
            "normalization": self.normalization,
            "byte_fallback": self.byte_fallback,
            "min_count": self.min_count,
            "seed": self.seed,
        }


class Sample(NamedTuple):
    """What the sample hands on. Sentences and words wait in files."""

    inputs: beam.PCollection  # of InputFile
    blocks: beam.PCollection  # of SentenceBlock: all sentences
    rejected: beam.PCollection  # of Rejected
    choices: beam.PCollection  # one mapping of language → Choice
    words: beam.PCollection  # of (bucket, word counts put away)
    sampled: beam.PCollection  # of (language, sentences that were counted)


class Trained(NamedTuple):
    """What training hands on."""

    trained: beam.PCollection  # one TrainedPieces


class Subwords:
    """One build: what it is learned from, found and looked at, and its pipeline."""

    def __init__(self, config: SubwordsConfig):
        """Raises InputError for corpora that are missing or damaged, ValueError for files of no language."""
        self.config = config
        self.sources = find_sources(config.corpora, layouts())
        self.files = find_evaluation(config.evaluate)
        self.languages = tuple(sorted({*self.sources.builds, *self.sources.texts}))

    @property
    def path(self) -> tuple[str, ...]:
        """Where the build goes below the output folder."""
        return CORPUS, self.edition, f"{self.dump_date}-{VERSION}"

    @property
    def edition(self) -> str:
        """ "multilingual-101-256000", and what differs from the paper."""
        name = f"multilingual-{len(self.languages)}-{self.config.size}"
        return name_edition(name, self.config.variant(), SubwordsConfig(["."]).variant())

    @property
    def dump_date(self) -> str:
        """That of the newest build, unless the settings say something else."""
        newest = max(map(age_of, self._builds()), default=(False, UNDATED))
        return self.config.dump_date or newest[1]

    def _builds(self) -> list[Build]:
        return [build for builds in self.sources.builds.values() for build in builds]

    def bytes_to_read(self, stripes: int) -> int:
        """Stored bytes of files of lines, and of Parquet files."""
        paths = [path for build in self._builds() for of in build.files.values() for path in of]
        texts = [path for paths in self.sources.texts.values() for path in paths]
        return sum(map(file_bytes_of, paths)) + line_bytes_of(sorted(texts), stripes, MEMBERS)

    def stages(self) -> tuple[Stage, ...]:
        """The method: which sentences are learned from, learning, and counting."""
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
            inputs=root | "HashInputs" >> HashInputs(self.inputs()),
            blocks=blocks,
            rejected=rejected,
            choices=choices,
            words=counted.words,
            sampled=counted.sampled,
        )

    def train(self, root: beam.Pipeline, place: Place, sample: Sample) -> Trained:
        """Learns the pieces from the words."""
        return Trained(sample.words | "TrainPieces" >> TrainPieces(self.config.pieces()))

    def count(self, root: beam.Pipeline, place: Place, sample: Sample, learned: Trained) -> None:
        """Counts the pieces of what was held out, and writes the vocabulary."""
        folder, trained, choices = place.folder, learned.trained, sample.choices
        rejected = sample.rejected
        outputs = (
            trained | "WritePieces" >> WritePieces(folder),
            rejected | "WriteRejected" >> WriteRejected(folder),
        )
        PieceOutcome(
            inputs=sample.inputs,
            outputs=outputs | "Outputs" >> beam.Flatten(),
            trained=trained,
            choices=choices,
            sampled=sample.sampled,
            stats=sample.blocks | "CountPieces" >> CountPieces(trained, choices, self.files),
            rejected=rejected | "CountReasons" >> CountReasons(),
        ) | "WriteManifest" >> WritePieceManifest(folder, self.provenance())

    def inputs(self) -> Mapping[str, Sequence[str]]:
        """Role → files. Of a build it is the manifest, which holds the hashes of all others."""
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
        """What makes this vocabulary another than the paper's."""
        found = []
        if len(self.languages) != PAPER_LANGUAGES:
            found.append(
                f"Learned from {len(self.languages)} languages: {', '.join(self.languages)}. The paper's is"
                f" learned from {PAPER_LANGUAGES}; where fewer share the pieces, each gets longer ones."
            )
        if any(build.corpus == "lm1b" for build in self._builds()):
            found.append(
                "Sentences of One Billion Word are tokenised: blanks stand before their punctuation."
            )
        return tuple(found)

    def provenance(self) -> Provenance:
        """What the manifest says of the build before it runs."""
        config = self.config
        return Provenance(
            corpus=CORPUS,
            edition=self.edition,
            dump_date=self.dump_date,
            version=VERSION,
            release_notes=RELEASE_NOTES,
            settings={
                "languages": list(self.languages),
                "size": config.size,
                **config.variant(),
                **TRAINER,
            },
            caveats=self.caveats(),
            code=code_versions("sentencex", "langcodes"),
            signature_settings={
                "lang": f"{len(self.languages)}-languages",
                "size": str(config.size),
                **name_variant(config.variant()),
                "seed": str(config.seed),
            },
        )
