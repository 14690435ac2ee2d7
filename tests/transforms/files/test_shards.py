import pytest

from corpusmill.transforms.files.formats import file_name
from corpusmill.transforms.files.text import Shard
from corpusmill.transforms.files.write_rows import count_shards
from tests.tools.case_tables import read_cases


@pytest.mark.parametrize(
    ("text_bytes", "expected"),
    [({}, (1, 1)), ({"train": 100, "test": 101}, (1, 2)), ({"train": 901}, (10, 1))],
)
def test_count_shards(text_bytes: dict[str, int], expected: tuple[int, int]) -> None:
    assert count_shards(["train", "test"], 100, text_bytes) == dict(
        zip(["train", "test"], expected, strict=True)
    )


@pytest.mark.parametrize(("kind", "name"), read_cases("files/shards", "names_of_files"))
def test_names_of_files(kind: str, name: str) -> None:
    assert file_name(kind, "wiki40b", Shard("train", 3, 16)) == name
