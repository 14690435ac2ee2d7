"""Assigns one of ten topics to an article, by the words in its categories and title (see topics.toml).

Goyal et al. 2022, section 4.2: "We manually classify the content of the sentences into one of 10 broader
topics". The assigned topic is a first guess, to be corrected by hand.
"""

import functools
import re
from collections.abc import Mapping, Sequence
from typing import Any

from corpusmill.transforms.files.toml_tables import read_table

# A category is better evidence of the topic than a word in the title.
_CATEGORY_WEIGHT, _TITLE_WEIGHT = 2, 1


def topic_of(domain: str, title: str, categories: Sequence[str]) -> str:
    """Returns the topic of an article, one of TOPICS.

    A topic gets 2 points for each category that contains one of its words, and 1 point if the title contains
    one. The topic with the most points is returned. If several topics have equal points, the first one in the
    domain's table is returned. If no topic has points, the domain's default is returned. Categories may have
    a namespace prefix.

    Raises ValueError if there is no table for `domain`, which is usually "wikinews" or another of DOMAINS.
    """
    tables = _tables()
    default = tables["default"].get(domain)
    if default is None:
        raise ValueError(
            f"no topics for the domain {domain!r}; there are tables for {', '.join(tables['default'])}"
        )
    names = [_bare(name.rpartition(":")[2]) for name in categories]
    scores: dict[str, int] = {}
    for topic, pattern in _patterns(domain, "categories").items():
        scores[topic] = _CATEGORY_WEIGHT * sum(1 for name in names if pattern.search(name))
    for topic, pattern in _patterns(domain, "titles").items():
        found = pattern.search(_bare(title)) is not None
        scores[topic] = scores.get(topic, 0) + _TITLE_WEIGHT * found
    best = max(scores, key=lambda topic: scores[topic], default="")
    return best if scores.get(best) else str(default)


def _bare(name: str) -> str:
    return " ".join(name.replace("_", " ").split())


def _tables() -> Mapping[str, Any]:
    return read_table(__package__, "topics.toml")


@functools.cache
def _patterns(domain: str, kind: str) -> Mapping[str, re.Pattern[str]]:
    table = _tables()[domain].get(kind, {})
    return {topic: _whole_words(words) for topic, words in table.items()}


def _whole_words(words: Sequence[str]) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{'|'.join(words)})(?!\w)", re.IGNORECASE)
