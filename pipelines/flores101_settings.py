"""Settings of FLORES-101."""

import argparse
import dataclasses
import functools
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from corpusmill.pipelines.run import flags
from corpusmill.pipelines.run.settings import EDITION, Config, Group
from corpusmill.pipelines.translation import flores101_commands
from corpusmill.transforms.files.builds.manifest import Release
from corpusmill.transforms.files.formats import PARQUET
from corpusmill.transforms.files.records import DOMAINS
from corpusmill.transforms.translation.passages import ARTICLES, SENTENCES, Cell, Quota, plan_quotas
from corpusmill.transforms.translation.selection import check_domain, is_day
from corpusmill.transforms.wikipedia.screening import parse_page_id

CORPUS = "flores101"
LANGUAGE = "en"
VERSION = "1.1.0"
RELEASE_NOTES = {
    "1.0.0": "First build.",
    "1.0.1": "The files in `rejected/` have at most about 65,000 records each. The texts are the same.",
    "1.1.0": "Text: that of Wiki-40B 1.8.0. Items of lists that are whole sentences can be chosen.",
}
RELEASE = Release(CORPUS, VERSION, RELEASE_NOTES)
PAPER_DOMAINS = DOMAINS[:3]


INPUTS = Group(
    "inputs",
    "pages-articles files or patterns, on any file system of Beam's; at least one site",
)
CHOICE = Group("choice of sentences", "all are part of the signature of the build", EDITION)


@dataclasses.dataclass(frozen=True)
class Flores101Config(Config):
    """The settings of a build of the source sentences of FLORES-101. Invalid settings raise ValueError."""

    doubts = ()

    wikinews: Sequence[str] = INPUTS.setting((), "English Wikinews: published articles")
    wikibooks: Sequence[str] = INPUTS.setting((), "English Wikibooks: pages of Wikijunior")
    wikivoyage: Sequence[str] = INPUTS.setting((), "English Wikivoyage")
    wikipedia: Sequence[str] = INPUTS.setting((), "English Wikipedia, which the paper does not use")
    documents: Sequence[str] = INPUTS.setting(
        (),
        "your own documents, as another domain: JSON Lines with a document per line, with id, url,"
        " title, date"
        " (2026-05-04), licence and text; blank lines separate paragraphs; may be given more than once",
        metavar="NAME=FILE",
        action="extend",
    )
    newer_than: Sequence[str] = INPUTS.setting(
        (),
        "use only new text. For a site: pages that are not in an older dump (given by its"
        " pages-articles files"
        " or its page.sql.gz), or pages above a page id. For documents: those after a day. May be given more"
        " than once",
        metavar="NAME=OLD",
        action="extend",
    )
    all_wikibooks: bool = CHOICE.setting(
        False,
        "use all books of Wikibooks, as the released data does; the paper mentions only Wikijunior",
    )
    sentences: int = CHOICE.setting(
        SENTENCES, "number of sentences in all splits together (default %(default)s)"
    )
    articles: int = CHOICE.setting(
        0,
        "number of articles that the sentences are taken from; default: in proportion to the paper's 842"
        " articles for 3,001 sentences",
    )
    seed: int = CHOICE.setting(
        0, "seed of the choice: another seed draws other sentences (default %(default)s)"
    )
    topics: Sequence[str] = INPUTS.setting(
        (), "tables with the columns url and topic, which override the guesses", part_of=EDITION
    )
    dump_date: str = INPUTS.dump_date(
        'the newest date in the names of the dumps; "undated" if there is none'
    )
    on_corrupt: str = INPUTS.on_corrupt()
    formats: str = Group().formats(PARQUET)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.domains():
            raise ValueError(
                "there is no input: use at least one of --wikinews, --wikibooks, --wikivoyage,"
                " --wikipedia and"
                " --documents"
            )
        if self.all_wikibooks and not self.wikibooks:
            raise ValueError("`all_wikibooks` needs a dump of Wikibooks: set `wikibooks`")
        for domain in self.document_sets():
            check_domain(domain)
        for domain, values in self.older().items():
            self._check_older(domain, values)
        self.quotas()

    def _check_older(self, domain: str, values: Sequence[str]) -> None:
        if domain not in self.domains():
            raise ValueError(
                f"`newer_than` names the domain {domain!r}, which has neither a dump nor documents"
            )
        if domain in self.dumps():
            parse_page_id(values)
        elif len(values) > 1 or not is_day(values[0]):
            raise ValueError(
                f"newer_than of {domain} must be a date like 2026-01-01, not {' '.join(values)}"
            )

    def dumps(self) -> dict[str, Sequence[str]]:
        """Returns domain → patterns of its dump files, for the domains that have dumps."""
        given = {domain: getattr(self, domain) for domain in DOMAINS}
        return {domain: patterns for domain, patterns in given.items() if patterns}

    def document_sets(self) -> dict[str, list[str]]:
        """Returns domain → patterns of its files of documents, sorted by domain."""
        return dict(sorted(_by_name("documents", self.documents).items()))

    def older(self) -> dict[str, list[str]]:
        """Returns domain → its values in the setting `newer_than`, which excludes old pages and documents.

        The values are either one page id, or patterns of files of an older dump, or one day. A page id
        excludes all pages with this id or a lower one. An older dump excludes all pages that it contains. A
        day excludes all documents that are not dated after it.
        """
        return _by_name("newer_than", self.newer_than)

    def domains(self) -> tuple[str, ...]:
        """Returns the names of all domains: first those with dumps, then those with documents."""
        return (*self.dumps(), *self.document_sets())

    def wanted_articles(self) -> int:
        """Returns the number of articles from which sentences are taken."""
        return self.articles or round(self.sentences * Fraction(ARTICLES, SENTENCES))

    def edition(self) -> str:
        """Returns "": only the inputs say which topics are corrected."""
        return ""

    def original(self) -> dict[str, Any]:
        paper = {"domains": "-".join(PAPER_DOMAINS), "articles": ARTICLES, "seed": "0"}
        return super().original() | paper | {"topics": "", "newer_than": ""}

    def quotas(self) -> Mapping[Cell, Quota]:
        """Returns the numbers of articles and sentences to draw, for each pair (domain, split)."""
        return plan_quotas(self.sentences, self.wanted_articles(), domains=self.domains())


def _by_name(setting: str, values: Sequence[str]) -> dict[str, list[str]]:
    """Groups the values of a setting, such as "news=docs.jsonl", by the name before "=".

    Returns name → list of the parts after "=", such as "news" → ["docs.jsonl"].

    Args:
      setting: The name of the setting, for the message of an error.

    Raises ValueError for a value without a name.
    """
    found: dict[str, list[str]] = {}
    for value in values:
        name, sign, rest = value.partition("=")
        if not (name and sign and rest):
            raise ValueError(f"{setting} must have the form name=value, got {value!r}")
        found.setdefault(name, []).append(rest)
    return found


def add(parser: argparse.ArgumentParser) -> None:
    """Adds the actions of the command `corpusmill flores101` to its parser."""
    flores101_commands.add(parser, _add_source)


def _add_source(actions: flags.Commands) -> None:
    r"""Draws sentences for a translation benchmark from dumps of English Wikimedia sites.

    examples:
      The paper's size, 3,001 sentences from 842 articles, a third from each site:
        corpusmill flores101 source --wikinews enwikinews-20261101-pages-articles.xml.bz2 \
          --wikibooks enwikibooks-20261101-pages-articles.xml.bz2 \
          --wikivoyage enwikivoyage-20261101-pages-articles.xml.bz2 --seed 2026 --output corpora
      Another domain, and fewer sentences:
        corpusmill flores101 source --wikipedia 'enwiki-20261101-pages-articles*.xml.bz2' \
          --sentences 600 --output corpora
      Text that no model of 2025 has seen: your own news, and pages that are not in a dump of that year:
        corpusmill flores101 source --documents news=news-2026.jsonl.gz --newer-than news=2025-12-31 \
          --wikivoyage enwikivoyage-20261101-pages-articles.xml.bz2 \
          --newer-than wikivoyage=enwikivoyage-20251201-pages-articles.xml.bz2 \
          --sentences 900 --output corpora

    what you get, in <output>/flores101/<edition>/<date>-<version>/:
      source.tsv      the sentences: id, split, article, domain, topic, has_image, has_hyperlink, url, text
      dev-*.parquet devtest-*.parquet test-*.parquet    the same sentences, by split
      rejected/       pages without a sentence, with the reason
      stats.json manifest.json README.md COMPLETED

    how sentences are chosen: articles are ordered by a hash of seed, site and page id, so the result does not
    depend on the order of the dump or the number of workers. From each article, 3 to 5 complete sentences in
    a row are taken. They are in one paragraph, which is at the beginning, in the middle or at the end of the
    article. None is short or malformed. All sentences of an article are in the same split. If the dumps have
    too few articles, all suitable articles are used, and the build says how many are missing.

    documents: each NAME in --documents NAME=FILE is a domain, like a site. Each domain has the same share of
    the
      sentences. With documents, the tables have a column licence, and README.md lists the licences. A malformed
      line or a repeated id is an error that names file and line; with --on-corrupt keep-good it is listed in
      rejected/.

    topics: guessed from categories and titles. To correct them, edit a copy of source.tsv and build again
    with --topics COPY; only the columns url and topic are read.

    Then: corpusmill flores101 packets --help
    """  # noqa: E501
    about = "draw the sentences to translate from dumps, with metadata and splits"
    build = functools.partial(flags.build_corpus, "flores101")
    parser = flags.add_command(actions, "source", about, _add_source.__doc__, build)
    flags.add_build(parser, Flores101Config)
