"""Settings of FLORES-101."""

import dataclasses
from collections.abc import Mapping, Sequence
from fractions import Fraction

from pipelines.settings.dump_settings import check_dump_settings
from transforms.text.builds.build_manifest import Release
from transforms.text.translation.records import DOMAINS
from transforms.text.translation.sourcing.quotas import (
    ARTICLES,
    SENTENCES,
    Cell,
    Quota,
    plan_quotas,
)

CORPUS = "flores101"
LANGUAGE = "en"
VERSION = "1.0.0"
RELEASE_NOTES = {"1.0.0": "First build."}
RELEASE = Release(CORPUS, VERSION, RELEASE_NOTES)
PAPER_DOMAINS = DOMAINS[:3]


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
        return plan_quotas(self.sentences, self.wanted_articles(), domains=tuple(self.dumps()))


ORIGINAL = {
    "domains": "-".join(PAPER_DOMAINS),
    "all_wikibooks": False,
    "sentences": SENTENCES,
    "articles": ARTICLES,
    "seed": "0",
    "topics": "",
}
