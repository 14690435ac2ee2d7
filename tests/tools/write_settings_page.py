"""Writes pipelines/docs/settings.md, the tables of the settings of all corpora.

python -m tests.tools.write_settings_page
"""

import dataclasses
from collections.abc import Iterator
from pathlib import Path

from corpusmill.pipelines.run.corpora import rows
from corpusmill.pipelines.run.settings import settings_in

PAGE = Path(__file__).parents[2] / "pipelines" / "docs" / "settings.md"
HEAD = """\
# Settings

The settings of the commands that build corpora, with their names in Python and in the table `build` of
`refresh.toml`. The flag of `min_words` is `--min-words`; the flag of a setting whose default is `True` turns
it off, such as `--no-wiki-templates`. What is part of the edition (its name) is also in the signature and in
the manifest. Settings without an entry there are
recorded in another form, or not at all: the language begins the name of the edition, and the manifest has
the hashes of files. The tables are made from the settings by `python -m tests.tools.write_settings_page`.
"""


def render_page() -> str:
    tables = ("\n".join(lines_of(name)) for name in rows())
    return HEAD + "".join(
        f"\n## {name}\n\n{table}\n" for name, table in zip(rows(), tables, strict=True)
    )


def lines_of(command: str) -> Iterator[str]:
    yield "| setting | default | part of | meaning |\n|---|---|---|---|"
    for field, setting in settings_in(rows()[command].classes()[1]):
        shown = "" if field.default in ("", ()) else f"`{field.default!r}`"
        if field.default is dataclasses.MISSING:
            shown = "required"
        text = setting.help % {"default": field.default} or "no flag"
        escaped = text.replace("|", "\\|").replace("<", "\\<")
        yield f"| `{field.name}` | {shown} | {setting.part_of} | {escaped} |"


if __name__ == "__main__":
    PAGE.write_text(render_page(), "utf-8")
