"""Each row names what is there."""

import importlib

import pyarrow as pa
import pytest

from pipelines.commands.parser import make_parser
from pipelines.corpora import CORPORA, CorpusRow, layouts, load, shapes
from pipelines.refresh.config import CorpusTable
from transforms.sentences import write_source
from transforms.text.books import pg19_rows
from transforms.text.books.simple import simplebooks_rows
from transforms.text.builds.corpus_shapes import TITLE_IN_TEXT
from transforms.text.lines import line_table
from transforms.text.translation.records import SPLITS as TRANSLATION_SPLITS
from transforms.text.vocabularies.document_sentences import PARAGRAPHS
from transforms.text.wikimedia.entity_table import table_schema
from transforms.wiki import write_corpus


@pytest.mark.parametrize("row", CORPORA, ids=lambda row: row.name)
def test_a_row_names_a_method_and_a_command(row: CorpusRow) -> None:
    method = row.load()
    build = getattr(method, row.build)
    assert callable(build.stages)
    assert getattr(method, row.settings).__dataclass_fields__
    assert method.VERSION in method.RELEASE_NOTES
    assert callable(importlib.import_module(row.command).add)
    assert callable(load(row.samples))
    assert not row.refresh or issubclass(load(row.refresh), CorpusTable)


@pytest.mark.parametrize("row", CORPORA, ids=lambda row: row.name)
def test_a_row_is_a_command(row: CorpusRow) -> None:
    with pytest.raises(SystemExit) as ended:
        make_parser().parse_args([row.name, "--help"])
    assert ended.value.code == 0


SCHEMAS = {
    "wiki40b": write_corpus.SCHEMA,
    "pg19": pg19_rows.SCHEMA,
    "simplebooks": simplebooks_rows.SCHEMA,
    "flores101": write_source.SCHEMA,
    "lm1b": line_table.SCHEMA,
    "entities": table_schema(["ukwiki"]),
}


@pytest.mark.parametrize("corpus", sorted(shapes()))
def test_the_columns_are_those_that_the_corpus_has(corpus: str) -> None:
    shape, schema = shapes()[corpus], SCHEMAS[corpus]
    columns = {shape.id, *shape.texts, *shape.facts, shape.title} - {"", TITLE_IN_TEXT}
    assert columns <= set(schema.names)
    if shape.id:
        kinds = (pa.types.is_string, pa.types.is_integer)
        assert any(is_kind(schema.field(shape.id).type) for is_kind in kinds)


def test_splits_are_those_that_hold_each_document_once() -> None:
    assert shapes()["flores101"].splits == TRANSLATION_SPLITS
    assert simplebooks_rows.TRAIN_2 not in shapes()["simplebooks"].splits
    assert set(shapes()["simplebooks"].splits) < set(simplebooks_rows.SPLITS_WITH_SMALL)


@pytest.mark.parametrize("corpus", layouts())
def test_a_layout_names_a_column_and_a_rule(corpus: str) -> None:
    layout = layouts()[corpus]
    assert layout.column in SCHEMAS[corpus].names
    assert layout.paragraphs in ("", *PARAGRAPHS)
