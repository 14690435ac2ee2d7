import re
from typing import Any

import pytest

from corpusmill.transforms.files.builds import ledger
from corpusmill.transforms.files.builds.manifest import Provenance
from corpusmill.transforms.files.records import OutputFile
from corpusmill.transforms.wikipedia.entity_table import TableCounts, account_for_entities
from tests.tools.error_of import error_of

WIKIS = ["elwiki", "enwiki"]
PROVENANCE = Provenance("entities", "wikidata", "20260101", "1.0.0", {}, {"wikis": WIKIS}, (), {})
FILES = [
    OutputFile("entities-00000-of-00002.parquet", "", "parquet", 3000, 5, "ab"),
    OutputFile("entities-00001-of-00002.parquet", "", "parquet", 1, 5, "ab"),
    OutputFile("internal-classes.parquet", "", "parquet", 2, 5, "ab"),
]
PARTS = [TableCounts(3000, 1, 2, (1, 3)), TableCounts(1, 0, 0, (0, 1))]


def account_for(**changed: Any) -> ledger.Accounts:
    accounts = {
        "outputs": FILES,
        "entities": 3002,
        "skipped": 7,
        "rejected": [(("read-entities", "not-json"), 2), (("read-entities", "bad-id"), 1)],
        "counts": PARTS,
        "kinds": [{13406463: "list", 7: "list", 17442446: "internal"}],
    } | changed
    return account_for_entities(ledger.Ledger(accounts), PROVENANCE)


def test_sound_accounts() -> None:
    accounts = account_for()
    assert accounts.counts == {
        "lines_read": 3012,
        "rows": 3001,
        "repeated": 1,
        "without_item": 7,
        "rejected": {"read-entities/bad-id": 1, "read-entities/not-json": 2, "total": 3},
    }
    kinds = {"disambiguation": 0, "category": 0, "list": 2, "template": 0, "internal": 1}
    assert accounts.stats["total"] == {
        "items": 3001,
        "items_with_class": 2,
        "sitelinks": {"elwiki": 1, "enwiki": 4},
        "internal_classes": kinds,
    }
    card = "\n".join(accounts.sections)
    rows = re.findall(r"^\| ([^|]+) \| ([0-9,]+) \|$", card, re.MULTILINE)
    assert rows == [
        ("items", "3,001"),
        ("items with class", "2"),
        ("elwiki", "1"),
        ("enwiki", "4"),
        *((kind, str(count)) for kind, count in kinds.items()),
        ("lines read", "3,012"),
        ("rows", "3,001"),
        ("repeated", "1"),
        ("without item", "7"),
        ("read-entities/bad-id", "1"),
        ("read-entities/not-json", "2"),
    ]
    assert "| `elwiki`, `enwiki` | string |" in card


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"entities": 4}, "3001 rows + 1 repeated do not add up to the 4 items that were read"),
        (
            {"counts": PARTS[1:]},
            "1 rows + 0 repeated do not add up to the 3002 items that were read",
        ),
        ({"outputs": FILES[1:]}, "1 in the files do not add up to the 3001 rows"),
    ],
)
def test_accounts_that_do_not_agree(changed: dict[str, Any], message: str) -> None:
    assert error_of(ledger.AccountingError, account_for, **changed) == message


def test_a_dump_without_items() -> None:
    with pytest.raises(ledger.NothingLeftError, match="3 lines were rejected, 7 are not items"):
        account_for(entities=0, counts=[TableCounts(0, 0, 0, (0, 0))], outputs=[])
