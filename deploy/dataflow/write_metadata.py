"""Writes the metadata of each Flex template to templates/<command>.json, from the flags of its command."""

import json
import pathlib

from pipelines.commands.dataflow_template import commands, metadata_of

TEMPLATES = pathlib.Path(__file__).parent / "templates"

for command in commands():
    text = json.dumps(metadata_of(command), indent=2, ensure_ascii=False)
    (TEMPLATES / f"{command}.json").write_text(f"{text}\n", "utf-8")
