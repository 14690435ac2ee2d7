import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import apache_beam as beam
import pytest

from corpusmill.transforms.files.builds.ledger import (
    INPUTS,
    LOST,
    OUTPUTS,
    REJECTED,
    Accounts,
    Ledger,
    NothingLeftError,
)
from corpusmill.transforms.files.builds.manifest import Description, Provenance
from corpusmill.transforms.files.builds.write_manifest import Enter, WriteManifest
from corpusmill.transforms.files.read_files import InputError
from corpusmill.transforms.files.records import InputFile, OutputFile
from tests.tools.run_pipeline import run_pipeline

PROVENANCE = Provenance(
    "tales", "en", "20260101", "1.0.0", {"1.0.0": "First."}, {"read": 10}, ("Before.",), {}
)
DESCRIPTION = Description("Tales", "About.", "@x", "other", ["text"], splits=("train",))


class Lost(NamedTuple):
    name: str


def account_for(ledger: Ledger, provenance: Provenance) -> Accounts:
    if not ledger.values("tales"):
        raise NothingLeftError(["books"], "no tale in it")
    ledger.balance(
        provenance.settings["read"], "tales", kept=ledger.number("kept"), **ledger.rejected
    )
    tales = sorted(ledger.values("tales"))
    return Accounts(
        {"kept": ledger.number("kept")}, {"tales": tales}, ["A table."], {"last": 1}, ("After.",)
    )


def write(folder: Path, description: Description = DESCRIPTION, **changed: Any) -> list[OutputFile]:
    accounts: dict[str, list[Any]] = {
        INPUTS: [InputFile("books", "b", 1, "00"), InputFile("catalog", "a", 1, "00")],
        OUTPUTS: [OutputFile("y", "", "text", 1, 1, "00"), OutputFile("x", "", "text", 1, 1, "00")],
        LOST: [Lost("d"), Lost("c")],
        REJECTED: [],
        "kept": [1, 2, 0],
        "tales": ["One", "two"],
    } | changed

    def build(root: beam.Pipeline) -> Mapping[str, beam.PCollection]:
        created = {name: root | name >> beam.Create(values) for name, values in accounts.items()}
        more = root | "More" >> beam.Create([7])
        earlier = {"kept": more} | "Earlier" >> Enter()
        ledger = created | "Enter" >> Enter(earlier)
        manifest = WriteManifest(str(folder), PROVENANCE, description, account_for)
        return {"files": ledger | manifest}

    return run_pipeline(build).elements["files"]


def test_what_a_build_says_of_itself(tmp_path: Path) -> None:
    tales = ["One", "two"]
    files = write(tmp_path, tales=tales)
    names = ["features.json", "dataset_info.json", "stats.json", "README.md", "manifest.json"]
    assert [file.name for file in files] == names  # the manifest stands for all
    for file in files:
        content = (tmp_path / file.name).read_bytes()
        assert (file.bytes, file.sha256) == (len(content), hashlib.sha256(content).hexdigest())
    manifest = json.loads((tmp_path / "manifest.json").read_text("utf-8"))
    assert manifest["counts"] == {"kept": 10}
    assert manifest["caveats"] == ["Before.", "After."]
    assert [file["name"] for file in manifest["inputs"]] == ["b", "a"]
    assert [file["name"] for file in manifest["outputs"]] == sorted([*names[:-1], "x", "y"])
    listed = {file["name"]: file for file in manifest["outputs"]}
    assert [listed[file.name] for file in files[:-1]] == [file._asdict() for file in files[:-1]]
    assert manifest["lost"] == [{"name": "c"}, {"name": "d"}]
    assert list(manifest)[-1] == "last"
    assert json.loads((tmp_path / "stats.json").read_text("utf-8")) == {"tales": tales}
    card = (tmp_path / "README.md").read_text("utf-8").split("---\n", 2)
    assert "  - split: train\n    path: train-*.parquet\n" in card[1]
    assert card[2] == (
        "\n# Tales\n\nAbout.\n\nSignature: `tales|lang:en|dump:20260101|v:1.0.0`\n\nA table.\n\n"
        "Caveats of this build:\n\n- Before.\n- After.\n\n"
        "## Citation\n\n```bibtex\n@x\n```\n\n"
        "Every input and output with its SHA-256, and all settings: `manifest.json`.\n"
    )


def test_what_is_no_dataset_has_no_head_and_no_metadata(tmp_path: Path) -> None:
    files = write(tmp_path, Description("Tales"), tales=["One"])
    assert [file.name for file in files] == ["stats.json", "README.md", "manifest.json"]
    assert (tmp_path / "README.md").read_text("utf-8").startswith("# Tales\n\nSignature: `")


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"kept": [1]}, "8 kept \\+ 0 total do not add up to the 10 tales"),
        ({"rejected": [(("read", "x"), 1)]}, "10 kept \\+ 1 read/x \\+ 1 total do not"),
        ({"tales": []}, "^b: no tale in it|InputError: b: no tale in it"),
    ],
)
def test_a_build_whose_numbers_do_not_agree_writes_nothing(
    tmp_path: Path, changed: dict[str, list[Any]], message: str
) -> None:
    with pytest.raises(Exception, match=message):
        write(tmp_path, **{"tales": ["One"], **changed})
    assert not list(tmp_path.iterdir())


def test_an_error_names_the_inputs_to_blame() -> None:
    assert str(InputError("b", "no tale in it")) == "b: no tale in it"
