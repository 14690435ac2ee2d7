"""FLORES-101: sentences for a translation benchmark, drawn from English Wikimedia sites.

Method: Goyal et al., "The FLORES-101 Evaluation Benchmark for Low-Resource and Multilingual Machine
Translation", TACL 2022, section 3.1. Where we differ and why: README, "FLORES-101". What comes after, the
translation, is in `pipelines/translation/`.
"""

import dataclasses
import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import apache_beam as beam

from pipelines.builds.provenance import code_versions
from pipelines.builds.stages import Place, Stage
from pipelines.settings.dump_settings import check_dump_settings, name_edition, name_variant
from transforms.builds.write_manifest import Enter, WriteManifest
from transforms.files.hash_inputs import HashInputs
from transforms.files.open_input import match_inputs
from transforms.files.write_rejected import CountReasons, WriteRejected
from transforms.sentences.read_topics import read_topics
from transforms.sentences.select_sentences import SelectSentences
from transforms.sentences.source_passages import Sourced, SourceDump, SourcePassages, flatten
from transforms.sentences.write_source import WriteSource
from transforms.text.builds.build_manifest import Provenance
from transforms.text.builds.ledger import INPUTS, LOST, OUTPUTS, REJECTED
from transforms.text.fingerprint import fingerprint
from transforms.text.translation.records import DOMAINS
from transforms.text.translation.sourcing.accounts import DESCRIPTION, account_for_source
from transforms.text.translation.sourcing.quotas import (
    ARTICLES,
    SENTENCES,
    Cell,
    Quota,
    plan_quotas,
    split_sizes,
)
from transforms.text.wikimedia.sites import load_site
from transforms.wiki.check_dumps import check_dumps
from transforms.wiki.read_dumps import dump_bytes_of

CORPUS = "flores101"
LANGUAGE = "en"
VERSION = "1.0.0"
RELEASE_NOTES = {"1.0.0": "First build."}
PAPER_DOMAINS = DOMAINS[:3]

_DUMP_DATE = re.compile(r"wik\w+-(\d{8}|latest)-")


@dataclasses.dataclass(frozen=True)
class Flores101Config:
    """Settings of one build. Those that contradict each other raise ValueError."""

    wikinews: Sequence[str] = ()  # patterns of pages-articles files of English Wikinews
    wikibooks: Sequence[str] = ()  # of English Wikibooks, for Wikijunior
    wikivoyage: Sequence[str] = ()  # of English Wikivoyage
    wikipedia: Sequence[str] = ()  # of English Wikipedia, which the paper does not use
    all_wikibooks: bool = False  # all of its books, as in the released data, not Wikijunior alone
    seed: int = 0  # decides with domain and page id about everything that is drawn
    sentences: int = SENTENCES
    articles: int = 0  # 0 for as many to a sentence as in the paper
    topics: Sequence[str] = ()  # of tables (url, topic) that have the last word
    dump_date: str = ""  # "20261101"; "" is the newest in the names of the dumps
    on_corrupt: str = "fail"

    def __post_init__(self) -> None:
        if not self.dumps():
            raise ValueError("no dump is named: --wikinews, --wikibooks, --wikivoyage, --wikipedia")
        if self.all_wikibooks and not self.wikibooks:
            raise ValueError("all_wikibooks is asked for, and no dump of Wikibooks is named")
        for patterns in self.dumps().values():
            check_dump_settings(patterns, self.dump_date, self.on_corrupt)
        self.quotas()

    def dumps(self) -> dict[str, Sequence[str]]:
        """Domain → patterns, of the domains that are asked for."""
        given = {domain: getattr(self, domain) for domain in DOMAINS}
        return {domain: patterns for domain, patterns in given.items() if patterns}

    def wanted_articles(self) -> int:
        """How many articles the sentences are taken from."""
        return self.articles or round(self.sentences * Fraction(ARTICLES, SENTENCES))

    def quotas(self) -> Mapping[Cell, Quota]:
        """How many articles and sentences each domain gives to each split."""
        return plan_quotas(
            self.sentences,
            self.wanted_articles(),
            split_sizes(self.sentences),
            tuple(self.dumps()),
        )


class SourcedDumps(NamedTuple):
    """What the first stage gives: candidates + rejected = pages."""

    candidates: beam.PCollection  # of Candidate
    rejected: beam.PCollection  # of Rejected, id and stage with the domain in front
    ledger: beam.PCollection  # of Entry


class Flores101:
    """One build: its inputs, found and looked at, and its stages."""

    def __init__(self, config: Flores101Config):
        """Raises InputError for inputs that are missing, damaged at their ends, or of another site."""
        self.config = config
        self.dumps = [self._find(domain, patterns) for domain, patterns in config.dumps().items()]
        self.topic_tables = match_inputs(config.topics)
        self.topics = read_topics(self.topic_tables)

    def _find(self, domain: str, patterns: Sequence[str]) -> SourceDump:
        all_books = domain == "wikibooks" and self.config.all_wikibooks
        site, paths = load_site(domain, all_books=all_books), match_inputs(patterns)
        whole = self.config.on_corrupt == "fail"
        flags = {load_site(name).dbname: f"--{name}" for name in DOMAINS}
        head = check_dumps(paths, LANGUAGE, site.dbname, whole=whole, settings=flags)
        return SourceDump(site, paths, head)

    @property
    def path(self) -> tuple[str, ...]:
        """Where the build goes below the output folder: corpus, edition, dump date and version."""
        edition = name_edition(LANGUAGE, self.variant(), ORIGINAL)
        return CORPUS, edition, f"{self.dump_date}-{VERSION}"

    @property
    def dump_date(self) -> str:
        """The newest date in the names of the dumps, unless the settings give one."""
        names = [_DUMP_DATE.search(path) for dump in self.dumps for path in dump.paths]
        newest = max((found.group(1) for found in names if found), default="undated")
        return self.config.dump_date or newest

    def bytes_to_read(self, stripes: int) -> int:
        """Bytes of dump files that the workers will read: once for the templates, once for the pages."""
        return 2 * sum(dump_bytes_of(path, stripes) for dump in self.dumps for path in dump.paths)

    def stages(self) -> Sequence[Stage]:
        """The method: the passages of all articles wait in files until some are drawn."""
        return Stage("source", self.source), Stage("select", self.select)

    def source(self, root: beam.Pipeline, place: Place) -> SourcedDumps:
        """Finds a passage in every article."""
        sourced = flatten([self._source(root, dump, place.stripes) for dump in self.dumps])
        ledger = {
            INPUTS: root | "HashInputs" >> HashInputs(self.inputs()),
            LOST: sourced.lost,
            "pages": sourced.pages,
        } | "Enter" >> Enter()
        return SourcedDumps(sourced.candidates, sourced.rejected, ledger)

    def select(self, root: beam.Pipeline, place: Place, sourced: SourcedDumps) -> None:
        """Draws the sentences, and writes them."""
        selected = sourced.candidates | "SelectSentences" >> SelectSentences(
            self.config.quotas(), self.topics
        )
        rejected = (sourced.rejected, selected.rejected) | "Rejected" >> beam.Flatten()
        ledger = {
            OUTPUTS: (
                rejected | "WriteRejected" >> WriteRejected(place.folder),
                selected.selection | "WriteSource" >> WriteSource(place.folder),
            ),
            REJECTED: rejected | "CountReasons" >> CountReasons(),
            "candidates": selected.candidates,
            "selection": selected.selection,
        } | "Enter" >> Enter(sourced.ledger)
        _ = ledger | "WriteManifest" >> WriteManifest(
            place.folder, self.provenance(), DESCRIPTION, account_for_source
        )

    def _source(self, root: beam.Pipeline, dump: SourceDump, stripes: int) -> Sourced:
        source = SourcePassages(dump, self.config.seed, stripes, self.config.on_corrupt)
        sourced: Sourced = root | f"Source {dump.site.name}" >> source
        return sourced

    def inputs(self) -> Mapping[str, Sequence[str]]:
        """Role → paths of all files that decide about the output."""
        dumps = {dump.site.name: dump.paths for dump in self.dumps}
        return {**dumps, "topics": self.topic_tables}

    def variant(self) -> dict[str, Any]:
        """The settings that make another selection of the same input."""
        config = self.config
        topics = "\n".join(f"{url}\t{topic}" for url, topic in sorted(self.topics.items()))
        return {
            "domains": "-".join(config.dumps()),
            "all_wikibooks": config.all_wikibooks,
            "sentences": config.sentences,
            "articles": config.wanted_articles(),
            "seed": str(config.seed),
            "topics": f"{fingerprint(topics):016x}"[:8] if topics else "",
        }

    def caveats(self) -> tuple[str, ...]:
        """What this build cannot be, for want of an input."""
        missing = [domain for domain in PAPER_DOMAINS if domain not in self.config.dumps()]
        if not missing:
            return ()
        return (f"The paper draws from {', '.join(missing)} too, of which no dump was given.",)

    def provenance(self) -> Provenance:
        """What the manifest says of the build before it runs."""
        return Provenance(
            corpus=CORPUS,
            edition=self.path[1],
            dump_date=self.dump_date,
            version=VERSION,
            release_notes=RELEASE_NOTES,
            settings={
                **self.variant(),
                "splits": split_sizes(self.config.sentences),
                "sentence_boundaries": "sentencex",
                "on_corrupt": self.config.on_corrupt,
            },
            caveats=self.caveats(),
            code=code_versions("sentencex"),
            signature_settings={"lang": LANGUAGE, **name_variant(self.variant())},
        )


ORIGINAL = {
    "domains": "-".join(PAPER_DOMAINS),
    "all_wikibooks": False,
    "sentences": SENTENCES,
    "articles": ARTICLES,
    "seed": "0",
    "topics": "",
}
