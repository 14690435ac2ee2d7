"""Computes the counts and the dataset card of a table of Wikidata items from the ledger of its build."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from corpusmill.transforms.files.builds.build_manifest import Description, Provenance
from corpusmill.transforms.files.builds.ledger import (
    OUTPUTS,
    Accounts,
    Ledger,
    NothingLeftError,
    balance,
    records_of,
)
from corpusmill.transforms.files.markdown import make_table
from corpusmill.transforms.wikipedia.class_tree import KINDS
from corpusmill.transforms.wikipedia.entity_table import add_counts

TABLE = "entities-"  # prefix of the names of the table's files

DESCRIPTION = Description(
    title="Entity table",
    about="""\
The items of Wikidata, as far as corpora need them: what they are instances of, and the titles of their
pages in the wikis. Made with corpusmill from an entity dump. Wikidata is CC0.""",
)
_SECTIONS = """\
{counts}

## Files

`entities-*.parquet`: one row per item, sorted by id across all files.

| column | type | what |
|---|---|---|
| `numeric_id` | int64 | 64 is Q64 |
| `instance_of` | list of int64 | values of P31, without deprecated statements, in the order of the dump |
| {wikis} | string | the title of the item's page in this wiki; null if it has none |

`internal-classes.parquet`: Wikimedia-internal classes, such as templates and lists, and all their
subclasses (P279), sorted by id. Items with one of these classes in `instance_of` are not things in the world.

| column | type | what |
|---|---|---|
| `numeric_id` | int64 | the class |
| `kind` | string | the first that applies: disambiguation, category, list, template or internal |

`rejected/`: lines of the dump that are not entities, with the reasons.

## Reading it

```python
import glob
import pyarrow.dataset as ds

items = ds.dataset(sorted(glob.glob("entities-*.parquet")))
titles = items.to_table(columns=["numeric_id", "enwiki"], filter=ds.field("enwiki").is_valid())
berlin = items.to_table(filter=ds.field("numeric_id") == 64)  # reads one row group: ids are sorted
```

## Counts

{sitelinks}

{classes}

{lines}"""


def account_for_entities(ledger: Ledger, provenance: Provenance) -> Accounts:
    """Returns the counts, statistics and sections of the dataset card of an entity table.

    An entity table is a table of Wikidata items. `provenance` has the facts about its build that were known
    before it ran, such as the settings. The ledger contains the counts of all stages of the build. In
    addition to the entries of every build, it has:
      entities: number of items that were read.
      skipped: number of lines without an item.
      counts: one TableCounts for each part of the table.
      kinds: one mapping: class of Wikimedia's own pages → its kind, such as "list".

    Raises:
      AccountingError: the numbers of written and repeated rows do not add up to the number of items read.
      NothingLeftError: there is no item. If the table were accepted, a build that uses it would drop all
        pages without an error.
    """
    entities, skipped = ledger.number("entities"), ledger.number("skipped")
    table, rejected = add_counts(ledger.values("counts")), ledger.rejected
    balance(entities, "items that were read", rows=table.rows, repeated=table.repeated)
    files = [file for file in ledger.values(OUTPUTS) if file.name.startswith(TABLE)]
    balance(table.rows, "rows", in_the_files=records_of(files))
    if not table.rows:
        raise NothingLeftError(
            (),
            f"the dump has no item: {rejected['total']:,} lines were rejected, {skipped:,} are not items;"
            " an entity dump has one item on each line",
        )
    classes = Counter(ledger.one("kinds").values())
    counts = {
        "lines_read": entities + skipped + rejected["total"],
        "rows": table.rows,
        "repeated": table.repeated,
        "without_item": skipped,
        "rejected": rejected,
    }
    total: dict[str, Any] = {
        "items": table.rows,
        "items_with_class": table.with_class,
        "sitelinks": dict(zip(provenance.settings["wikis"], table.sitelinks, strict=True)),
        "internal_classes": {kind: classes[kind] for kind in KINDS},
    }
    return Accounts(counts, {"total": total}, _make_sections(total, counts))


def _make_sections(total: Mapping[str, Any], counts: Mapping[str, Any]) -> list[str]:
    flat = {name: count for name, count in total.items() if not isinstance(count, dict)}
    lines = {name: count for name, count in counts.items() if name != "rejected"}
    rejected = {name: count for name, count in counts["rejected"].items() if name != "total"}
    text = _SECTIONS.format(
        counts=_table("what", "count", flat),
        wikis=", ".join(f"`{wiki}`" for wiki in total["sitelinks"]),
        sitelinks=_table("wiki", "items with a page", total["sitelinks"]),
        classes=_table("kind", "internal classes", total["internal_classes"]),
        lines=_table("lines of the dump", "count", lines | rejected),
    )
    return text.split("\n")


def _table(first: str, second: str, counts: Mapping[str, int]) -> str:
    rows = ((name.replace("_", " "), count) for name, count in counts.items())
    return "\n".join(make_table((first, second), rows))
