"""Small news of our own writing in JSON Lines, as people bring documents for a translation benchmark."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from tests.makers.compressed import COMPRESS

TOWNS = ("Tarnholt", "Bellmarch", "Merrowdale", "Fernby", "Quarrington", "Oldmere")
EVENTS = {
    "bridge": "The old bridge across the river in {town} was closed on Monday after engineers found cracks.",
    "school": "A new school for two hundred children has opened in the eastern part of {town} this week.",
    "flood": "Heavy rain has flooded more than forty houses near the harbour of {town} since Sunday night.",
    "match": "The football team of {town} has won its first match at home for almost three years.",
    "museum": "The museum of {town} shows a collection of old maps that nobody had seen for a century.",
}
LICENCES = ("CC BY 4.0", "CC0 1.0", "Free for research & reuse")
_PARAGRAPHS = (
    "The mayor of {town} said that the town had waited for the {what} for a very long time. She thanked all"
    " of the people in {town} who had worked on the {what} during the last weeks. Some of the neighbours were"
    " less happy with the {what} and wrote a letter to the council of {town}. The council will talk about the"
    " {what} at its next meeting in the town hall of {town}.",
    "Visitors who came to {town} to see the {what} had to park their cars outside the town. The police of"
    " {town} counted about {count} visitors of the {what} by the early afternoon. A baker near the market of"
    " {town} told reporters that the {what} was good for his shop.",
)


def make_documents(count: int = 30) -> list[dict[str, str]]:
    """Documents with different ids, dates and sentences; three licences take turns."""
    pairs = [(event, town) for event in EVENTS.items() for town in TOWNS][:count]
    return [
        {
            "id": f"{what}-{town.casefold()}",
            "url": f"https://news.example/2026/{what}/{number}",
            "title": f"{what.capitalize()} in {town}",
            "date": f"2026-{1 + number // 5:02}-{1 + number % 28:02}",
            "licence": LICENCES[number % len(LICENCES)],
            "text": "\n\n".join(
                paragraph.format(town=town, what=what, count=100 + number)
                for paragraph in (f"{lead} {_PARAGRAPHS[0]}", _PARAGRAPHS[1])
            ),
        }
        for number, ((what, lead), town) in enumerate(pairs)
    ]


def write_documents(path: Path, documents: Iterable[Mapping[str, Any]]) -> str:
    """Writes a document a line, compressed as the name of the file says; returns the path."""
    lines = (json.dumps(one, ensure_ascii=False) for one in documents)
    compress = COMPRESS.get(path.suffix, bytes)
    path.write_bytes(compress("".join(f"{line}\n" for line in lines).encode()))
    return str(path)
