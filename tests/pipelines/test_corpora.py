"""Each row names what is there."""

import importlib

import pytest

from pipelines.commands.parser import make_parser
from pipelines.corpora import CORPORA, CorpusRow, row_of


@pytest.mark.parametrize("row", CORPORA, ids=lambda row: row.name)
def test_a_row_names_a_method_and_a_command(row: CorpusRow) -> None:
    method = row.load()
    build = getattr(method, row.build)
    assert callable(build.stages)
    assert getattr(method, row.settings).__dataclass_fields__
    assert method.VERSION in method.RELEASE_NOTES
    assert callable(importlib.import_module(f"pipelines.commands.{row.command}").add)
    assert row_of(row.name) is row


@pytest.mark.parametrize("row", CORPORA, ids=lambda row: row.name)
def test_a_row_is_a_command(row: CorpusRow) -> None:
    with pytest.raises(SystemExit) as ended:
        make_parser().parse_args([row.name, "--help"])
    assert ended.value.code == 0
