"""Tables of topics, which people have put right by hand."""

from collections.abc import Iterable

from transforms.files.open_input import InputError, read_input
from transforms.text.translation.records import TOPICS, ReadError
from transforms.text.translation.tables import read_table


def read_topics(paths: Iterable[str]) -> dict[str, str]:
    """URL of an article → topic, of tables with the columns url and topic, and any others.

    So a source.tsv in which topics were changed is such a table. Raises InputError for a file that is none,
    for a topic that is none of TOPICS, and for an article that has two.
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
        raise InputError(path, f"line {line}: no topic: {topic!r}; there are {', '.join(TOPICS)}")
    if topics.setdefault(url, topic) != topic:
        raise InputError(path, f"line {line}: {url} is {topic} here, and {topics[url]} before")
