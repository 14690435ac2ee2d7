"""README.md of an entity table."""

from collections.abc import Iterable, Mapping
from typing import Any

from transforms.text.files.markdown import make_list, make_table

_TEXT = """\
# Entity table

The items of Wikidata, as far as corpora need them: what they are instances of, and the titles of their
pages in the wikis. Made with corpusmill from an entity dump. Wikidata is CC0.

Signature: `{signature}`

{counts}

## Files

`entities-*.parquet`: a row for each item, by ascending id over all files.

| column | type | what |
|---|---|---|
| `numeric_id` | int64 | 64 is Q64 |
| `instance_of` | list of int64 | what P31 names, without deprecated statements, in the order of the dump |
| {wikis} | string | the title of the item's page there; null where it has none |

`internal-classes.parquet`: the classes of Wikimedia's own things, by ascending id: themselves, or by P279
below a class that is. An item with one of them in `instance_of` is no thing in the world.

| column | type | what |
|---|---|---|
| `numeric_id` | int64 | the class |
| `kind` | string | disambiguation, category, list, template or internal; of several the first |

`rejected/`: lines of the dump that are no entity, and why.

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

{lines}

Every input and output with its SHA-256, and all settings: `manifest.json`.
"""


def make_card(manifest: Mapping[str, Any], stats: Mapping[str, Any]) -> str:
    """The README in Markdown, from manifest.json and stats.json."""
    total, counts = stats["total"], manifest["counts"]
    wikis = list(total["sitelinks"])
    flat = {name: count for name, count in total.items() if not isinstance(count, dict)}
    lines = {name: count for name, count in counts.items() if name != "rejected"}
    rejected = {name: count for name, count in counts["rejected"].items() if name != "total"}
    return _TEXT.format(
        signature=manifest["signature"],
        counts=_table("what", "count", flat),
        wikis=", ".join(f"`{wiki}`" for wiki in wikis),
        sitelinks=_table("wiki", "items with a page", total["sitelinks"]),
        classes=_table("kind", "internal classes", total["internal_classes"]),
        lines=_table("lines of the dump", "count", lines | rejected),
    ) + _lines(make_list("What this table could not know:", manifest["caveats"]))


def _table(first: str, second: str, counts: Mapping[str, int]) -> str:
    rows = ((name.replace("_", " "), count) for name, count in counts.items())
    return "\n".join(make_table((first, second), rows))


def _lines(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)
