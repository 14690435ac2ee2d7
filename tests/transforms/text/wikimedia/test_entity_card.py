import re

from transforms.text.wikimedia.entity_card import make_card

MANIFEST = {
    "signature": "entities|lang:wikidata|dump:20260101|v:1.0.0",
    "caveats": [],
    "counts": {
        "lines_read": 1_000_009,
        "rows": 1_000_000,
        "repeated": 3,
        "without_item": 2,
        "rejected": {"read-entities/not-json": 4, "total": 4},
    },
}
STATS = {
    "total": {
        "items": 1_000_000,
        "items_with_class": 900_000,
        "sitelinks": {"enwiki": 5000, "zhwiki": 12},
        "internal_classes": {"list": 7},
    }
}


def test_the_card_tells_every_count() -> None:
    card = make_card(MANIFEST, STATS)
    assert "`entities|lang:wikidata|dump:20260101|v:1.0.0`" in card
    rows = [line for line in card.splitlines() if re.fullmatch(r"\| [^|]+ \| [0-9,]+ \|", line)]
    assert rows == [
        "| items | 1,000,000 |",
        "| items with class | 900,000 |",
        "| enwiki | 5,000 |",
        "| zhwiki | 12 |",
        "| list | 7 |",
        "| lines read | 1,000,009 |",
        "| rows | 1,000,000 |",
        "| repeated | 3 |",
        "| without item | 2 |",
        "| read-entities/not-json | 4 |",
    ]
    assert "| `enwiki`, `zhwiki` | string |" in card
    assert "could not know" not in card


def test_the_card_tells_what_could_not_be_known() -> None:
    card = make_card(MANIFEST | {"caveats": ["A.", "B."]}, STATS)
    assert card.endswith("\nWhat this table could not know:\n\n- A.\n- B.\n")
