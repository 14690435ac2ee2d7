import gzip
from pathlib import Path

import pytest

from corpusmill.transforms.files.read_files import InputError
from corpusmill.transforms.wikipedia.clean_wikitext import read_language
from corpusmill.transforms.wikitext.clean import WikitextCleaner
from corpusmill.transforms.wikitext.language import load_language
from tests.tools.case_tables import read_cases

TABLE = """\
silent_templates = ["Нотатка моя"]
dropped_headings = ["Казна-що"]

[templates]
"Одиниця_моя" = "{1} [({2})]"
"Lang" = "<{2}>"
"Мова моя" = "@Lang"
"""


def write(tmp_path: Path, text: str) -> list[str]:
    path = tmp_path / "мої.toml"
    path.write_text(text, encoding="utf-8")
    return [str(path)]


def test_tables_of_the_user_come_first(tmp_path: Path) -> None:
    cleaner = WikitextCleaner(read_language("uk", write(tmp_path, TABLE)), {})
    text = (
        "Є {{одиниця моя|5|кг}} і {{lang|de|Haus}} та {{мова моя|de|Baum}}{{нотатка моя}}.\n\n"
        "== Казна-що ==\nГеть.\n"
    )
    page = cleaner.clean(text, "Т")
    assert page.sections[0].paragraphs == ("Є 5 (кг) і <Haus> та <Baum>.",)
    assert len(page.sections) == 1
    assert page.unrendered == {}


def test_without_files_the_tables_are_the_built_in_ones() -> None:
    assert read_language("uk") == load_language("uk")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        *read_cases("wikipedia/read_language", "a_file_that_is_no_table_is_named"),
        (f"a = {'[' * 9_999}", "maximum recursion depth exceeded"),
    ],
)
def test_a_file_that_is_no_table_is_named(tmp_path: Path, text: str, message: str) -> None:
    paths = write(tmp_path, text)
    with pytest.raises(InputError) as caught:
        read_language("uk", paths)
    assert message in str(caught.value)
    assert paths[0] in str(caught.value)


def test_a_damaged_file_is_named_with_the_byte(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml.gz"
    path.write_bytes(gzip.compress(TABLE.encode())[:-1])
    with pytest.raises(InputError) as caught:
        read_language("uk", [str(path)])
    assert str(caught.value).startswith(f"{path}, byte 0: damaged or truncated: ")
