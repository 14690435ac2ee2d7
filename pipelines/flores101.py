"""FLORES-101: draws the sentences of a translation benchmark from English Wikimedia sites.

Method: Goyal et al., "The FLORES-101 Evaluation Benchmark for Low-Resource and Multilingual Machine
Translation", TACL 2022, section 3.1. Differences and their reasons: pipelines/docs/flores101.md. The next
step, the translation of the sentences, is in `pipelines/translation/`.
"""

import itertools
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import apache_beam as beam

from corpusmill.pipelines.run.corpus_build import CorpusBuild, Place, Stage
from corpusmill.pipelines.run.settings import MANIFEST
from corpusmill.transforms.files.builds.manifest import name_edition
from corpusmill.transforms.files.formats import parse_formats
from corpusmill.transforms.files.read_files import match_inputs
from corpusmill.transforms.files.records import DOMAINS
from corpusmill.transforms.files.text import short_fingerprint
from corpusmill.transforms.translation import find_passages, source_accounts
from corpusmill.transforms.translation.find_passages import SelectSentences, write_sentences
from corpusmill.transforms.translation.passages import split_sizes
from corpusmill.transforms.wikipedia.drop_older_pages import find_older_dump
from corpusmill.transforms.wikipedia.dump_folder import date_in_name
from corpusmill.transforms.wikipedia.find_dumps import sums_beside
from corpusmill.transforms.wikipedia.read_dumps import caveats_of_export, check_dumps, dump_bytes_of
from corpusmill.transforms.wikipedia.screening import NEWER_THAN, date_of_dump, name_older
from corpusmill.transforms.wikipedia.sites import load_site

from .flores101_settings import LANGUAGE, PAPER_DOMAINS, RELEASE, Flores101Config


class SourcedDumps(NamedTuple):
    """The results of the first stage. A candidate is a passage. A page without a candidate is rejected."""

    candidates: beam.PCollection  # of Candidate
    rejected: beam.PCollection  # of Rejected; id and stage begin with the domain
    ledger: beam.PCollection  # of Entry


class Flores101(CorpusBuild):
    """A build of the source sentences of FLORES-101."""

    config: Flores101Config
    release = RELEASE
    description = source_accounts.DESCRIPTION
    lang = LANGUAGE
    unheld = (NEWER_THAN,)  # only the page ids of these inputs are held in memory
    libraries = ("sentencex",)

    def __init__(self, config: Flores101Config):
        """Finds and checks the inputs.

        Raises InputError for inputs that are missing, that are truncated or damaged at their beginning or
        end, or that belong to another site.
        """
        self.config = config
        self.dumps = [self._find(domain, patterns) for domain, patterns in config.dumps().items()]
        documents, older = config.document_sets(), config.older()
        self.documents = [
            find_passages.DocumentFiles(domain, match_inputs(patterns), *older.get(domain, ()))
            for domain, patterns in documents.items()
        ]
        if documents:
            self.description = source_accounts.describe_documents(
                list(config.dumps()), list(documents)
            )
        self.export_caveats = tuple(
            caveat for dump in self.dumps for caveat in caveats_of_export(dump.paths)
        )
        self.topic_tables = match_inputs(config.topics)
        self.topics = find_passages.read_topics(self.topic_tables)

    def _find(self, domain: str, patterns: Sequence[str]) -> find_passages.SourceDump:
        all_books = domain == "wikibooks" and self.config.all_wikibooks
        site, paths = load_site(domain, all_books=all_books), match_inputs(patterns)
        whole = self.config.on_corrupt == "fail"
        flags = {load_site(name).dbname: f"--{name}" for name in DOMAINS}
        head = check_dumps(paths, LANGUAGE, site.dbname, whole=whole, settings=flags)
        date = self.config.dump_date or date_of_dump(paths)
        older = find_older_dump(self.config.older().get(domain, ()), LANGUAGE, site.dbname, date)
        licence = source_accounts.SITES[domain] if self.config.documents else ""
        return find_passages.SourceDump(site, paths, head, older, licence)

    @property
    def edition(self) -> str:
        return name_edition(LANGUAGE, self.variant(), self.config.original())

    def marks(self) -> Mapping[str, str]:
        licence = "the column licence has that of each row"
        return {**super().marks(), **({"license": licence} if self.documents else {})}

    def date_of_inputs(self) -> str:
        """Returns the newest date in the names of the dumps; "" if there is none."""
        paths = [path for dump in self.dumps for path in dump.paths]
        return max(map(date_in_name, paths), default="")

    def bytes_to_read(self, stripes: int) -> int:
        """Returns the number of bytes of dump files that the workers will read.

        Args:
          stripes: The number of parts into which workers divide a file. A file that cannot be read from the
            middle, such as a .gz, is read from the beginning for each part, so it counts `stripes` times.
        """
        paths = [path for dump in self.dumps for path in dump.paths]
        return sum(dump_bytes_of(path, stripes) for path in paths)

    def stages(self) -> Sequence[Stage]:
        """Returns the stages: first find a passage in each article, then draw sentences from the passages."""
        return Stage("source", self.source), Stage("select", self.select)

    def source(self, root: beam.Pipeline, place: Place) -> SourcedDumps:
        """Finds one passage in every article. The passages are candidates for the benchmark.

        Args:
          root: The pipeline.
          place: Says into how many parts the workers divide a file.
        """
        seed, on_corrupt = self.config.seed, self.config.on_corrupt
        of_dumps = {
            dump.site.name: find_passages.SourcePassages(dump, seed, place.stripes, on_corrupt)
            for dump in self.dumps
        }
        of_documents = {
            files.domain: find_passages.SourceDocuments(files, seed, on_corrupt)
            for files in self.documents
        }
        sources: dict[str, beam.PTransform] = {**of_dumps, **of_documents}
        sourced = find_passages.flatten(
            [root | f"Source {name}" >> one for name, one in sources.items()]
        )
        ledger = self.open_ledger(
            root, lost=sourced.lost, pages=sourced.pages, newer_than=sourced.newer
        )
        return SourcedDumps(sourced.candidates, sourced.rejected, ledger)

    def select(self, root: beam.Pipeline, place: Place, sourced: SourcedDumps) -> None:
        """Draws the sentences from the candidates, and writes them.

        Args:
          root: The pipeline.
          place: The folder of the build.
          sourced: The results of the stage "source", with the candidates.
        """
        selected = sourced.candidates | "SelectSentences" >> SelectSentences(
            self.config.quotas(), self.topics
        )
        write = beam.FlatMap(
            write_sentences, place.folder, self.marks(), parse_formats(self.config.formats)
        )
        self.close_ledger(
            place.folder,
            sourced.ledger,
            source_accounts.account_for_source,
            outputs=[selected.selection | "WriteSource" >> write],
            rejected=(sourced.rejected, selected.rejected) | "Rejected" >> beam.Flatten(),
            candidates=selected.candidates,
            selection=selected.selection,
        )

    def inputs(self) -> Mapping[str, Sequence[str]]:
        dumps = {dump.site.name: dump.paths for dump in self.dumps}
        documents = {files.domain: files.paths for files in self.documents}
        older = [path for dump in self.dumps if dump.older for path in dump.older.paths]
        of_older = {NEWER_THAN: older} if older else {}
        return {**dumps, **documents, "topics": self.topic_tables, **of_older}

    def listed_sums(self) -> Mapping[str, str]:
        is_strict = self.config.on_corrupt == "fail"
        return sums_beside(itertools.chain(*self.inputs().values())) if is_strict else {}

    def variant(self) -> dict[str, Any]:
        """Returns the settings that determine which sentences are drawn from the same input."""
        config = self.config
        older = config.older()
        names = {name: name_older(older.get(name, ())) for name in config.dumps()}
        names |= {files.domain: files.newer_than for files in self.documents}
        newer_than = "-".join(f"{domain}-{name}" for domain, name in names.items() if name)
        topics = (f"{url}\t{topic}" for url, topic in sorted(self.topics.items()))
        return {
            "domains": "-".join(config.domains()),
            **config.variant(),
            "articles": config.wanted_articles(),
            "seed": str(config.seed),
            "topics": short_fingerprint(topics),
            **({"newer_than": newer_than} if newer_than else {}),
        }

    def caveats(self) -> tuple[str, ...]:
        """Returns caveats, as sentences for the dataset card.

        They name sites that the paper uses but for which no dump was given, and pages or files that are
        missing in Content File Exports.
        """
        missing = [domain for domain in PAPER_DOMAINS if domain not in self.config.dumps()]
        if not missing:
            return self.export_caveats
        paper = f"The paper draws from {', '.join(missing)} too, of which no dump was given."
        return paper, *self.export_caveats

    def settings(self) -> Mapping[str, Any]:
        return {
            **self.variant(),
            "splits": split_sizes(self.config.sentences),
            "sentence_boundaries": "sentencex",
            **self.config.part(MANIFEST),
        }
