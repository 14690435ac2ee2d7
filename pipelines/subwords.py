"""One SentencePiece vocabulary for many languages, learned from a sample of their corpora.

The sample gives small languages a larger share than they have in the corpora (temperature sampling). Method:
Goyal et al. 2022 (FLORES-101), section 5.2, "Training SPM". The inputs are finished builds, and files with
one sentence per line.

Or a vocabulary is learned from the same number of whole articles of each Wikipedia, as in Guo et al. 2020
(Wiki-40B), section 3.

Finds the builds and files from which a vocabulary over many languages is trained, and on which it is
evaluated.
"""

import dataclasses
import functools
import logging
import posixpath
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import apache_beam as beam
from apache_beam.io.filesystems import FileSystems

from corpusmill.pipelines.run.corpora import layout_of, layouts
from corpusmill.pipelines.run.corpus_build import CorpusBuild, Place, Stage
from corpusmill.pipelines.translation.target_languages import language_key
from corpusmill.transforms.files.builds import finished_builds
from corpusmill.transforms.files.builds.finished_builds import Build, age_of
from corpusmill.transforms.files.builds.manifest import MANIFEST, name_edition, name_variant
from corpusmill.transforms.files.builds.paper_figures import multilingual_beside
from corpusmill.transforms.files.read_files import InputError, file_bytes_of, match_inputs
from corpusmill.transforms.files.read_lines import line_bytes_of
from corpusmill.transforms.files.records import Layout
from corpusmill.transforms.files.stores import is_folder
from corpusmill.transforms.files.terminal import count_of
from corpusmill.transforms.files.text_kinds import check_sentences
from corpusmill.transforms.models import read_sentences
from corpusmill.transforms.models.model_accounts import PIECES_DESCRIPTION, account_for_pieces
from corpusmill.transforms.models.read_sentences import (
    ARTICLES,
    MEMBERS,
    SENTENCES,
    EvaluationFile,
    SentenceSources,
)
from corpusmill.transforms.models.sentences import WHOLE
from corpusmill.transforms.models.subword_models import PIECES_TRAINER, TRAINER
from corpusmill.transforms.models.train_pieces import TrainPieces, write_pieces

from .subwords_settings import (
    MOST_SENTENCES,
    PAPER_LANGUAGES,
    RELEASE,
    UNDATED,
    WIKI40B_LANGUAGES,
    SubwordsConfig,
    parse_argument,
)

EVALUATED_SPLITS = ("dev", "devtest")  # splits of FLORES; its split test is withheld

_Source = TypeVar("_Source", Build, str)


def find_sources(arguments: Sequence[str], layouts: Mapping[str, Layout]) -> SentenceSources:
    """Finds the builds and text files that arguments name, and groups them by language.

    A folder is searched for builds, and the newest build of each edition is used. Any other argument must be
    a pattern of text files after a language, such as "uk=texts/*.gz". If an argument has a language before a
    folder, this language is used for all builds in the folder.

    Args:
      arguments: The arguments of --corpora.
      layouts: Name of each supported corpus → its layout.

    Raises InputError if nothing is found, ValueError if a file has no language or two languages.
    """
    told: dict[str, tuple[Build, str]] = {}
    named: dict[str, tuple[Build, str]] = {}
    texts: dict[str, str] = {}
    for language, path in map(parse_argument, arguments):
        key = language_key(language) if language else ""
        if is_folder(path):
            for build in _builds_below(path, layouts):
                if key:
                    _claim(build.folder, named.setdefault(build.folder, (build, key))[1], key)
                else:
                    told[build.folder] = build, language_key(build.language)
        elif key:
            for file in match_inputs([path]):
                check_sentences(file)
                _claim(file, texts.setdefault(file, key), key)
        else:
            files = match_inputs([path])
            raise ValueError(
                f"{files[0]}: the language is missing; write it before the path, as in uk={path}"
            )
    # Only the newest build of each corpus, edition and language, sorted by these three.
    newest: dict[tuple[str, str, str], tuple[Build, str]] = {}
    for build, key in sorted((told | named).values(), key=lambda one: age_of(one[0])):
        newest[build.corpus, build.edition, key] = build, key
    builds = [newest[edition] for edition in sorted(newest)]
    own = ((build.folder, layout_of(build.manifest)) for build, _ in builds)
    return SentenceSources(
        builds=_by_language((key, build) for build, key in builds),
        texts=_by_language((key, path) for path, key in sorted(texts.items())),
        layouts={**layouts, **{folder: layout for folder, layout in own if layout}},
    )


def _claim(path: str, before: str, key: str) -> None:
    if before != key:
        first, second = sorted((before, key))
        raise ValueError(f"{path} is given with two languages, {first} and {second}; use one")


def _by_language(pairs: Iterable[tuple[str, _Source]]) -> dict[str, list[_Source]]:
    sources: dict[str, list[_Source]] = {}
    for language, source in pairs:
        sources.setdefault(language, []).append(source)
    return dict(sorted(sources.items()))


def _builds_below(folder: str, layouts: Mapping[str, Layout]) -> list[Build]:
    builds = finished_builds.find_builds([folder])
    for build in builds:
        if build.corpus not in layouts:
            logging.getLogger(__name__).warning(
                "skipped, because this vocabulary cannot be learned from builds of %s: %s",
                build.corpus,
                build.folder,
            )
    if not (learnable := [build for build in builds if build.corpus in layouts]):
        raise InputError(
            folder, f"no finished build of {', '.join(layouts)} in this folder or below"
        )
    return learnable


def _whole_articles(sources: SentenceSources, articles: int) -> SentenceSources:
    if sources.texts:
        raise ValueError("--articles is for builds of Wiki-40B: leave out the files with sentences")
    for language, builds in sources.builds.items():
        if len(builds) > 1:
            folders = ", ".join(build.folder for build in builds)
            raise ValueError(f"--articles needs one build of {language}, and there are: {folders}")
    layouts = {name: one._replace(paragraphs=WHOLE) for name, one in sources.layouts.items()}
    return sources._replace(layouts=layouts, documents=articles)


def find_evaluation(folders: Sequence[str]) -> tuple[EvaluationFile, ...]:
    """Returns the dev and devtest files in folders with the layout of FLORES, such as `devtest/ukr.devtest`.

    Raises InputError if a folder has no such files, or if a file name does not begin with a known language.
    """
    files: dict[str, EvaluationFile] = {}
    for folder in folders:
        patterns = [
            FileSystems.join(folder.rstrip("/"), split, f"*.{split}") for split in EVALUATED_SPLITS
        ]
        found = [
            metadata.path
            for match in FileSystems.match(patterns)
            for metadata in match.metadata_list
        ]
        if not found:
            raise InputError(folder, f"there are no files like {' or '.join(patterns)}")
        files |= {path: EvaluationFile(_language_of_file(path), path) for path in found}
    return tuple(files[path] for path in sorted(files))


def _language_of_file(path: str) -> str:
    try:
        return language_key(posixpath.basename(path).rpartition(".")[0])
    except ValueError as error:
        raise InputError(path, str(error)) from None


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
    description = PIECES_DESCRIPTION
    libraries = ("sentencex", "langcodes")

    def __init__(self, config: SubwordsConfig):
        """Finds and checks the inputs.

        Raises InputError for missing or damaged corpora, ValueError for files without a language.
        """
        self.config = config
        known = layouts()
        if config.articles:
            known = {name: one for name, one in known.items() if one.paragraphs == "article"}
        self.sources = find_sources(config.corpora, known)
        if config.articles:
            self.sources = _whole_articles(self.sources, config.articles)
        self.unit = ARTICLES if config.articles else SENTENCES
        self.files = find_evaluation(config.evaluate)
        self.languages = tuple(sorted({*self.sources.builds, *self.sources.texts}))

    @property
    def edition(self) -> str:
        """The name of the edition: number of languages, size, and the settings that differ from those in
        the paper (Goyal et al. 2022).

        An example is "multilingual-101-256000".
        """
        name = f"multilingual-{len(self.languages)}-{self.config.size}"
        return name_edition(name, self.variant(), self.config.original())

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
        if self.config.articles:
            return sum(
                part.stored_bytes
                for files in read_sentences.files_to_plan(self.sources)
                for part in read_sentences.plan_files(files, self.config.articles)
            )
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
        sampling = read_sentences.Sampling(self.languages, config.temperature, config.sentences)
        if config.articles:  # all that are read
            sampling = read_sentences.Sampling(self.languages, "1", MOST_SENTENCES)
        blocks, rejected = root | "ReadSentences" >> read_sentences.ReadSentences(
            self.sources, place.scratch, config.seed, place.stripes
        )
        choices = blocks | "ChooseSentences" >> read_sentences.ChooseSentences(sampling)
        words, sampled = blocks | "CountSampleWords" >> read_sentences.CountSampleWords(
            place.scratch, choices, unit=self.unit
        )
        return Sample(
            blocks=blocks,
            rejected=rejected,
            choices=choices,
            words=words,
            ledger=self.open_ledger(root, sampled=sampled),
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
            functools.partial(account_for_pieces, beside=self.beside_paper()),
            outputs=[trained | "WritePieces" >> beam.FlatMap(write_pieces, folder)],
            rejected=sample.rejected,
            trained=trained,
            choices=choices,
            stats=sample.blocks
            | "CountPieces" >> read_sentences.CountPieces(trained, choices, self.files, self.unit),
        )

    def beside_paper(self) -> dict[str, tuple[str, str]]:
        """Returns language → characters per piece in the paper of Wiki-40B, and what differs from it."""
        settings = dataclasses.asdict(self.config)
        return {
            language: multilingual_beside(build.manifest, settings, len(self.languages))
            for language, (build, *_) in self.sources.builds.items()
            if self.config.articles
        }

    def inputs(self) -> Mapping[str, Sequence[str]]:
        """Returns role → paths of the input files.

        Of a build, only the manifest is listed, because it contains the hashes of all other files.
        """
        builds: dict[str, list[str]] = {}
        for language, of in self.sources.builds.items():
            for build in of:
                paths = builds.setdefault(f"{language} {build.signature}", [])
                paths.append(FileSystems.join(build.folder, MANIFEST))
        texts = {f"{language} lines": paths for language, paths in self.sources.texts.items()}
        evaluated: dict[str, list[str]] = {}
        for file in self.files:
            evaluated.setdefault(f"{file.language} evaluated", []).append(file.path)
        return builds | texts | evaluated

    def caveats(self) -> tuple[str, ...]:
        """Returns caveats about differences between this vocabulary and the one in the paper."""
        found = []
        in_paper = WIKI40B_LANGUAGES if self.config.articles else PAPER_LANGUAGES
        if len(self.languages) != in_paper:
            found.append(
                f"Learned from {count_of(len(self.languages), 'language')}: {', '.join(self.languages)}."
                f" The paper's is learned from {in_paper}; pieces are longer if fewer languages share them."
            )
        dates = sorted({build.dump_date for build in self._builds()})
        if self.config.articles and len(dates) > 1:
            found.append(f"The dumps are of different dates: {', '.join(dates)}.")
        caveats = (layouts()[build.corpus].caveat for build in self._builds())
        return (*found, *filter(None, dict.fromkeys(caveats)))

    def settings(self) -> Mapping[str, Any]:
        return {
            "languages": list(self.languages),
            "size": self.config.size,
            **self.variant(),
            "character_coverage": self.config.pieces().character_coverage,
            **(TRAINER if self.config.articles else PIECES_TRAINER),
        }

    def signature_settings(self) -> Mapping[str, str]:
        return {
            "lang": f"{len(self.languages)}-languages",
            "size": str(self.config.size),
            **name_variant(self.variant()),
            **({} if self.config.articles else {"seed": str(self.config.seed)}),
        }
