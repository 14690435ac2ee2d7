"""Multilingual vocabularies of Wiki-40B, learned from the same number of articles of each language.

Method: Guo et al., LREC 2020, section 3. The vocabularies have 64k and 128k pieces. They are learned from the
first 10,000 articles in the split train of each language. Then the articles of every language are divided
into pieces, and the pieces are counted. The inputs are finished builds of Wiki-40B.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import apache_beam as beam
from apache_beam.io.filesystems import FileSystems
from apache_beam.pvalue import AsList

from corpusmill.pipelines.run.corpus_build import CorpusBuild, Place, Stage
from corpusmill.transforms.files.builds import finished_builds
from corpusmill.transforms.files.builds.manifest import MANIFEST
from corpusmill.transforms.files.builds.paper_figures import (
    CHARACTERS_PER_PIECE,
    WIKI40B,
    Beside,
    signed_settings,
)
from corpusmill.transforms.files.read_files import InputError
from corpusmill.transforms.models import model_accounts
from corpusmill.transforms.models.subword_models import TRAINER
from corpusmill.transforms.wikipedia.train_subwords import (
    CountSubwords,
    count_rows,
    plan_sample,
    train_on_builds,
    write_vocabulary,
)
from corpusmill.transforms.wikitext.wikis import LANGUAGE_CODES

from .wiki40b_multilingual_settings import CORPUS, PREFIX, RELEASE, MultilingualConfig


class Trained(NamedTuple):
    """The results of the stage "train": the vocabularies, and counts for the manifest of the build."""

    trained: beam.PCollection  # of (name, TrainedSubwords)
    ledger: beam.PCollection  # of Entry


class Wiki40bMultilingual(CorpusBuild):
    """A build of multilingual vocabularies from finished builds of Wiki-40B."""

    config: MultilingualConfig
    release = RELEASE
    description = model_accounts.SUBWORDS_DESCRIPTION
    kind = model_accounts.KIND

    def __init__(self, config: MultilingualConfig):
        """Finds the newest build of each language. Raises InputError if there is no build, or if
        a build is damaged.
        """
        self.config = config
        self.builds = newest_builds(finished_builds.find_builds(config.corpora, RELEASE.corpus))
        if not self.builds:
            raise InputError(
                " ".join(config.corpora), f"no finished build of {CORPUS} in this folder or below"
            )
        self.stats = {build.edition: read_stats(build) for build in self.builds}
        parts = {b.edition: plan_sample(b, config.sample_articles) for b in self.builds}
        self.sample = [part for of_edition in parts.values() for part in of_edition]
        self.sampled = {code: sum(part.rows for part in parts[code]) for code in parts}

    @property
    def edition(self) -> str:
        """The name of the edition. It contains the number of input builds: "multilingual-41".

        An edition of an input build can have a suffix after the language, such as "-min-words-9". A suffix
        that all input builds share is appended to the name: "multilingual-2-min-words-9".
        """
        differing = {build.edition.removeprefix(build.language) for build in self.builds}
        return f"{PREFIX}-{len(self.builds)}{differing.pop() if len(differing) == 1 else ''}"

    @property
    def dump_date(self) -> str:
        """The newest dump date of the input builds."""
        return max(map(finished_builds.age_of, self.builds))[1]

    def bytes_to_read(self, stripes: int) -> int:
        """Returns the number of UTF-8 bytes of text in all input builds.

        It does not depend on `stripes`, the number of workers.
        """
        return sum(stats["total"]["text_bytes"] for stats in self.stats.values())

    def stages(self) -> tuple[Stage, ...]:
        """Returns the stages: first train the vocabularies, then count their pieces."""
        return Stage("train", self.train), Stage("count", self.count)

    def train(self, root: beam.Pipeline, place: Place) -> Trained:
        """Trains the vocabularies on the first articles of each language."""
        trained = (
            root
            | "Vocabularies" >> beam.Create([self.config.vocabularies()])
            | "Train" >> beam.FlatMap(train_on_builds, self.sample)
        )
        return Trained(trained, ledger=self.open_ledger(root))

    def count(self, root: beam.Pipeline, place: Place, learned: Trained) -> None:
        """Counts the pieces into which each vocabulary splits the articles, and writes the vocabularies."""
        folder, trained = place.folder, learned.trained
        beside = self.beside_paper()
        languages = {one.edition: signed_settings(one.signature)["lang"] for one in self.builds}
        differs = {edition: of.differs for edition, of in beside.items() if not of.no_size}
        paper = {edition: CHARACTERS_PER_PIECE[languages[edition]] for edition in differs}
        rows = root | "ReadCorpus" >> finished_builds.ReadCorpus(self.builds, ["text"])
        self.close_ledger(
            folder,
            learned.ledger,
            model_accounts.SubwordAccounts(self.stats, self.sampled, paper, differs),
            outputs=[
                trained | "WriteVocabularies" >> beam.FlatMap(write_vocabulary, folder, PREFIX)
            ],
            trained=trained,
            stats=rows | "CountRows" >> CountSubwords(count_rows, AsList(trained)),
        )

    def beside_paper(self) -> dict[str, Beside]:
        """Returns edition → which figures of the paper stand beside it."""
        return {one.edition: WIKI40B.beside(one.manifest) for one in self.builds}

    def inputs(self) -> Mapping[str, Sequence[str]]:
        """Returns signature of an input build → list with the path of its manifest.

        A signature is a line that identifies a build, such as "wiki40b|lang:uk|dump:20261101|v:1.3.0". A
        manifest contains the hashes of all files of its build, so they need not be listed.
        """
        return {one.signature: [FileSystems.join(one.folder, MANIFEST)] for one in self.builds}

    def caveats(self) -> tuple[str, ...]:
        """Returns sentences for the user about how these vocabularies differ from those in the paper."""
        wanted = self.config.sample_articles
        found = []
        languages = sorted({build.language for build in self.builds})
        absent = [code for code in LANGUAGE_CODES if code not in languages]
        if absent:
            found.append(
                f"Learned from {len(languages)} languages: {', '.join(languages)}. The paper's are learned"
                f" from {len(LANGUAGE_CODES)}; pieces are longer if fewer languages share them."
            )
        few = [f"{code} {rows:,}" for code, rows in self.sampled.items() if rows < wanted]
        if few:
            found.append(
                f"Languages with fewer than {wanted:,} articles of train, which weigh less than the others:"
                f" {', '.join(few)}."
            )
        dates = sorted({build.dump_date for build in self.builds})
        if len(dates) > 1:
            found.append(f"The dumps are of different dates: {', '.join(dates)}.")
        for edition, beside in self.beside_paper().items():
            if beside.no_size:
                found.append(f"No figures of the paper beside {edition}: {beside.no_size}.")
        return tuple(found)

    def settings(self) -> Mapping[str, Any]:
        vocabularies = self.config.vocabularies()
        return {
            "builds": {build.edition: build.sha256 for build in self.builds},
            "vocabularies": {name: one.vocabulary_size for name, one in vocabularies.items()},
            "sample_articles": self.config.sample_articles,
            "character_coverage": next(iter(vocabularies.values())).character_coverage,
            **TRAINER,
        }


def newest_builds(builds: Sequence[finished_builds.Build]) -> list[finished_builds.Build]:
    """Returns the newest build of each edition, sorted by edition."""
    newest = {build.edition: build for build in sorted(builds, key=finished_builds.age_of)}
    return [newest[edition] for edition in sorted(newest)]


def read_stats(build: finished_builds.Build) -> model_accounts.BuildStats:
    """Returns the counts of each split of a build, as split → {name of a count: number}.

    They are read from the manifest or, in older builds, from stats.json.
    """
    stats: model_accounts.BuildStats = build.manifest.get("stats") or finished_builds.read_json(
        build.folder, "stats.json"
    )
    return stats
