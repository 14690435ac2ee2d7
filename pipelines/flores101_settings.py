"""Settings of FLORES-101."""

import dataclasses
from collections.abc import Mapping, Sequence
from fractions import Fraction

from corpusmill.pipelines.run.dump_settings import check_dump_settings
from corpusmill.transforms.files.builds.build_manifest import Release
from corpusmill.transforms.files.translation_records import DOMAINS
from corpusmill.transforms.translation.documents import check_domain, is_day
from corpusmill.transforms.translation.quotas import ARTICLES, SENTENCES, Cell, Quota, plan_quotas
from corpusmill.transforms.wikipedia.older_pages import parse_page_id

CORPUS = "flores101"
LANGUAGE = "en"
VERSION = "1.0.1"
RELEASE_NOTES = {
    "1.0.0": "First build.",
    "1.0.1": "The files in `rejected/` have at most about 65,000 records each. The texts are the same.",
}
RELEASE = Release(CORPUS, VERSION, RELEASE_NOTES)
PAPER_DOMAINS = DOMAINS[:3]


@dataclasses.dataclass(frozen=True)
class Flores101Config:
    """The settings of a build of the source sentences of FLORES-101. Invalid settings raise ValueError."""

    wikinews: Sequence[str] = ()  # patterns of pages-articles files of English Wikinews
    wikibooks: Sequence[str] = ()  # the same of Wikibooks; only Wikijunior is used by default
    wikivoyage: Sequence[str] = ()  # the same of Wikivoyage
    wikipedia: Sequence[str] = ()  # the same of Wikipedia, which the paper does not use
    all_wikibooks: bool = False  # use all of Wikibooks, as the released data, not only Wikijunior
    seed: int = 0  # seed of the sampling
    sentences: int = SENTENCES
    articles: int = 0  # number of articles; 0 for the paper's ratio of articles to sentences
    topics: Sequence[str] = ()  # patterns of tables (url, topic) that override detected topics
    documents: Sequence[str] = ()  # "news=docs.jsonl": domain=pattern of JSON Lines files
    newer_than: Sequence[str] = ()  # "wikinews=old.xml.bz2", "wikivoyage=48000", "news=2026-01-01"
    dump_date: str = ""  # "20261101"; "" is the newest in the names of the dumps
    on_corrupt: str = "fail"

    def __post_init__(self) -> None:
        if not self.domains():
            raise ValueError(
                "there is no input: use at least one of --wikinews, --wikibooks, --wikivoyage,"
                " --wikipedia and"
                " --documents"
            )
        if self.all_wikibooks and not self.wikibooks:
            raise ValueError("`all_wikibooks` needs a dump of Wikibooks: set `wikibooks`")
        for patterns in self.dumps().values():
            check_dump_settings(patterns, self.dump_date, self.on_corrupt)
        for domain, patterns in self.document_sets().items():
            check_domain(domain)
            check_dump_settings(patterns, self.dump_date, self.on_corrupt)
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


ORIGINAL = {
    "domains": "-".join(PAPER_DOMAINS),
    "all_wikibooks": False,
    "sentences": SENTENCES,
    "articles": ARTICLES,
    "seed": "0",
    "topics": "",
    "newer_than": "",
}
