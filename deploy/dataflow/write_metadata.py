"""Writes the metadata of each Dataflow Flex template to templates/<command>.json.

There is a template for each corpusmill command that Dataflow can start. The parameters of the template are
made from the flags of the command.
"""

import json
import pathlib

from corpusmill.pipelines.dataflow_template import commands, metadata_of

TEMPLATES = pathlib.Path(__file__).parent / "templates"

for command in commands():
    text = json.dumps(metadata_of(command), indent=2, ensure_ascii=False)
    (TEMPLATES / f"{command}.json").write_text(f"{text}\n", "utf-8")
