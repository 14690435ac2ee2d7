import pyarrow as pa
import pytest

from transforms.sentences import write_source
from transforms.text.books import pg19_rows
from transforms.text.books.simple import simplebooks_rows
from transforms.text.builds.corpus_shapes import SHAPES, TITLE_IN_TEXT, shape_of
from transforms.text.lines import line_table
from transforms.text.translation.records import SPLITS as TRANSLATION_SPLITS
from transforms.text.wikimedia.entity_table import table_schema
from transforms.wiki import article_rows

SCHEMAS = {
    "wiki40b": article_rows.SCHEMA,
    "pg19": pg19_rows.SCHEMA,
    "simplebooks": simplebooks_rows.SCHEMA,
    "flores101": write_source.SCHEMA,
    "lm1b": line_table.SCHEMA,
    "entities": table_schema(["ukwiki"]),
}


@pytest.mark.parametrize("corpus", sorted(SHAPES))
def test_the_columns_are_those_that_the_corpus_has(corpus: str) -> None:
    shape, schema = SHAPES[corpus], SCHEMAS[corpus]
    columns = {shape.id, *shape.texts, *shape.facts, shape.title} - {"", TITLE_IN_TEXT}
    assert columns <= set(schema.names)
    if shape.id:
        kinds = (pa.types.is_string, pa.types.is_integer)
        assert any(is_kind(schema.field(shape.id).type) for is_kind in kinds)


def test_splits_are_those_that_hold_each_document_once() -> None:
    assert SHAPES["flores101"].splits == TRANSLATION_SPLITS
    assert simplebooks_rows.TRAIN_2 not in SHAPES["simplebooks"].splits
    assert set(SHAPES["simplebooks"].splits) < set(simplebooks_rows.SPLITS_WITH_SMALL)


def test_what_holds_no_documents_is_refused() -> None:
    with pytest.raises(ValueError, match="builds of subwords hold no documents to compare"):
        shape_of("subwords")
