import json

from corpusmill.transforms.files.builds.manifest import Provenance, assemble, to_json
from corpusmill.transforms.files.records import InputFile, OutputFile

PROVENANCE = Provenance(
    corpus="wiki40b",
    edition="zh-tw",
    dump_date="20260101",
    version="1.0.0",
    release_notes={"1.0.0": "First build."},
    settings={"language": "zh-tw"},
    caveats=("No entity dump was given.",),
    code={"corpusmill": "0.1.0"},
)


def test_signature() -> None:
    assert PROVENANCE.signature == "wiki40b|lang:zh-tw|dump:20260101|v:1.0.0"


def test_settings_that_make_a_variant_are_in_the_signature_in_their_order() -> None:
    variant = PROVENANCE._replace(signature_settings={"shards": "100", "dedup": "raw"})
    assert variant.signature == "wiki40b|lang:zh-tw|dump:20260101|shards:100|dedup:raw|v:1.0.0"


def test_a_manifest_does_not_depend_on_the_order_of_what_was_found() -> None:
    inputs = [InputFile("page-props", "b.gz", 2, "bb"), InputFile("dump", "a.bz2", 1, "aa")]
    outputs = [OutputFile(name, "", "text", 1, 10, "00ff") for name in ("y", "x")]
    lost = [{"name": "b", "start": 2}, {"name": "a", "start": 9}, {"name": "a", "start": 1}]
    manifest = assemble(PROVENANCE, inputs, {"pages_read": 3}, lost, outputs)
    again = assemble(PROVENANCE, inputs[::-1], {"pages_read": 3}, lost[::-1], outputs[::-1])
    assert to_json(manifest) == to_json(again)
    assert manifest["signature"] == PROVENANCE.signature
    assert manifest["caveats"] == ["No entity dump was given."]
    assert manifest["inputs"][0] == {"role": "dump", "name": "a.bz2", "bytes": 1, "sha256": "aa"}
    assert [file["name"] for file in manifest["outputs"]] == ["x", "y"]


def test_json_is_readable_and_ends_with_a_line_feed() -> None:
    text = to_json({"назва": ["日本", 1]})
    assert text == '{\n  "назва": [\n    "日本",\n    1\n  ]\n}\n'
    assert json.loads(text) == {"назва": ["日本", 1]}
