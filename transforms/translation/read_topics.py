"""Reads tables that list manually corrected topics of articles."""

from collections.abc import Iterable

from corpusmill.transforms.files.open_input import InputError, read_input
from corpusmill.transforms.files.tables import read_table
from corpusmill.transforms.files.translation_records import TOPICS, ReadError


def read_topics(paths: Iterable[str]) -> dict[str, str]:
    """Reads tables with the columns `url` and `topic`. Returns URL of an article → its topic.

    Other columns are ignored, so an edited source.tsv can be used. Raises InputError for a file without these
    columns, for an unknown topic, and for an article with two different topics.
    """
    topics: dict[str, str] = {}
    for path in paths:
        data = read_input(path)
        try:
            for line, row in read_table(data.decode("utf-8"), ("url", "topic")):
                _add(topics, path, line, row["url"].strip(), row["topic"].strip().casefold())
        except UnicodeDecodeError as error:
            line = data.count(b"\n", 0, error.start) + 1
            raise InputError(path, f"line {line} is not UTF-8") from None
        except ReadError as error:
            raise InputError(path, str(error)) from None
    return topics


def _add(topics: dict[str, str], path: str, line: int, url: str, topic: str) -> None:
    if topic not in TOPICS:
        raise InputError(
            path, f"line {line}: unknown topic {topic!r}; expected one of {', '.join(TOPICS)}"
        )
    if topics.setdefault(url, topic) != topic:
        raise InputError(
            path, f"line {line}: {url} has the topic {topic}, but an earlier line has {topics[url]}"
        )
