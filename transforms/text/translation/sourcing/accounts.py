"""What became of the pages that sentences were sourced from, and whether all that was counted agrees."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from transforms.text.builds.build_manifest import AccountingError
from transforms.text.translation.records import DOMAINS, SPLITS, TOPICS, SourceSentence
from transforms.text.translation.sourcing.selection import Selection


class FoundPages(NamedTuple):
    """What a build has found, summed up. All keys are domains."""

    pages: Mapping[str, int]  # that were read
    rejections: Mapping[tuple[str, str], int]  # ("wikinews/screen-pages", reason) → pages
    candidates: Mapping[str, int]  # pages with a passage
    selection: Selection


class DomainAccount(NamedTuple):
    """The pages of a domain: rejected + not_drawn + articles = pages."""

    pages: int  # that were read
    rejected: int  # no articles, or without a passage, or with a sentence that was drawn before
    not_drawn: int  # with a passage, and not needed; copies of other articles too
    articles: int  # that sentences were taken from
    sentences: int


def account_for(found: FoundPages) -> dict[str, DomainAccount]:
    """Domain → its account.

    Raises AccountingError where a page was lost or came from nowhere.
    """
    return {domain: _account_for(domain, found) for domain in sorted(found.pages, key=_order)}


def _order(domain: str) -> int:
    return DOMAINS.index(domain)


def _account_for(domain: str, found: FoundPages) -> DomainAccount:
    rejected = sum(
        pages for (stage, _), pages in found.rejections.items() if stage.startswith(f"{domain}/")
    )
    taken = [one for one in found.selection.sentences if one.domain == domain]
    articles = len({one.article for one in taken})
    duplicates = sum(one.id.startswith(f"{domain}:") for one in found.selection.duplicates)
    not_drawn = found.candidates.get(domain, 0) - duplicates - articles
    account = DomainAccount(found.pages[domain], rejected, not_drawn, articles, len(taken))
    if not_drawn < 0 or rejected + not_drawn + articles != account.pages:
        raise AccountingError(
            f"{domain}: {rejected} rejected + {not_drawn} not drawn + {articles} articles are not the"
            f" {account.pages} pages that were read"
        )
    return account


def measure(sentences: Sequence[SourceSentence]) -> dict[str, int]:
    """Counts of some sentences. Words stand between white space; characters are Unicode code points."""
    return {
        "sentences": len(sentences),
        "articles": len({one.article for one in sentences}),
        "words": sum(len(one.text.split()) for one in sentences),
        "characters": sum(len(one.text) for one in sentences),
        "with_image": sum(one.has_image for one in sentences),
        "with_hyperlink": sum(one.has_hyperlink for one in sentences),
    }


def make_stats(found: FoundPages) -> dict[str, Any]:
    """stats.json: counts per split and in all; then what table 3 of the paper tells, and the accounts."""
    sentences = found.selection.sentences
    topics = Counter(one.topic for one in sentences)
    return {
        **{split: measure([one for one in sentences if one.split == split]) for split in SPLITS},
        "total": measure(sentences),
        "domains": {domain: account._asdict() for domain, account in account_for(found).items()},
        "topics": {topic: topics[topic] for topic in (*TOPICS, *sorted(topics.keys() - TOPICS))},
        "articles_by_sentences": {
            str(length): articles for length, articles in found.selection.lengths.items()
        },
        "shortages": [str(shortage) for shortage in found.selection.shortages],
    }


def make_counts(found: FoundPages) -> dict[str, Any]:
    """What became of the pages, for manifest.json."""
    kept = Counter(one.split for one in found.selection.sentences)
    rejected = {f"{stage}/{reason}": n for (stage, reason), n in sorted(found.rejections.items())}
    accounts = account_for(found).values()
    return {
        "pages_read": sum(found.pages.values()),
        "kept": {split: kept[split] for split in SPLITS} | {"total": kept.total()},
        "rejected": rejected | {"total": sum(rejected.values())},
        "not_drawn": sum(account.not_drawn for account in accounts),
    }
