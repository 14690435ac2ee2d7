import pathlib
import re
import tomllib
from collections import Counter
from importlib import resources
from urllib.parse import unquote

import pytest

from corpusmill.transforms.files.records import DOMAINS, TOPICS
from corpusmill.transforms.translation import sentence_rules
from corpusmill.transforms.translation.sentence_rules import topic_of
from tests.tools.case_tables import read_cases
from tests.tools.real_data import DATA, needs_real_data


@pytest.mark.parametrize(
    ("domain", "title", "categories", "topic"),
    read_cases("translation/topics", "topics"),
)
def test_topic_of_an_article(domain: str, title: str, categories: list[str], topic: str) -> None:
    assert topic_of(domain, title, categories) == topic


def test_order_of_categories_changes_nothing() -> None:
    categories = ["Music", "Crime and law", "Films", "Asia"]
    assert topic_of("wikinews", "A day", categories) == "entertainment"
    assert topic_of("wikinews", "A day", categories[::-1]) == "entertainment"


def test_an_unknown_domain_has_no_topics() -> None:
    with pytest.raises(
        ValueError, match="domain 'wikiquote'; there are tables for wikinews, wikibooks"
    ):
        topic_of("wikiquote", "A day", [])


def test_tables_name_known_domains_and_topics() -> None:
    table = tomllib.loads(
        resources.files(sentence_rules.__package__).joinpath("topics.toml").read_text("utf-8")
    )
    assert tuple(table["default"]) == DOMAINS
    assert set(table["default"].values()) <= set(TOPICS)
    for domain in DOMAINS:
        for kind, words_of in table[domain].items():
            assert kind in ("categories", "titles")
            assert set(words_of) <= set(TOPICS)
            for words in words_of.values():
                assert len(set(words)) == len(words)
                assert all(re.compile(word) and word == word.lower() for word in words)


def normalise_topic(released: str) -> str:
    """The topic that is meant by one in the metadata of FLORES-101: "sciece", "big cats, lion"."""
    table = tomllib.loads(
        pathlib.Path(__file__).with_name("released_topics.toml").read_text("utf-8")
    )
    text = " ".join(released.replace("_", " ").split())
    patterns = ((row["topic"], "|".join(row["words"])) for row in table["released"])
    return next(
        topic for topic, words in patterns if re.search(rf"(?i)(?<!\w)(?:{words})(?!\w)", text)
    )


@needs_real_data
def test_all_released_topics_are_one_of_ten() -> None:
    counts: Counter[str] = Counter()
    agreeing: Counter[str] = Counter()
    titles = set()
    for name in ("metedata_dev.tsv", "metedata_devtest.tsv"):
        path = DATA / "flores" / "flores101_dataset" / name
        for line in path.read_text("utf-8").splitlines()[1:]:
            url, domain, released, _, _ = line.split("\t")
            topic = normalise_topic(released)
            counts[topic] += 1
            if url not in titles:
                titles.add(url)
                title = unquote(url.partition("/wiki/")[2])
                agreeing[domain] += topic_of(domain, title, []) == topic
    assert counts.total() == 997 + 1012
    assert counts.keys() == set(TOPICS)
    assert counts.most_common(1)[0][0] == "travel"  # as in table 3 of the paper
    assert len(titles) == 562
    # Without categories, of 207 news, 179 pages of books and 176 of travel guides.
    assert agreeing == {"wikinews": 125, "wikibooks": 175, "wikivoyage": 146}
