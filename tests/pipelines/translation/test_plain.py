import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from corpusmill.pipelines.translation.packet_files import NO_NAME, Returned, read_plain
from corpusmill.transforms.files.records import ReadError, Translation
from tests.tools.case_tables import read_cases
from tests.tools.error_of import error_of

TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n\0"))
LINES = st.lists(TEXTS, max_size=10)


def ids_of(count: int) -> list[str]:
    return [f"dev-{number:04d}" for number in range(1, count + 1)]


def texts_of(text: str, count: int) -> list[str]:
    return [each.text for each in read_plain(text, "fra.dev", ids_of(count)).translations]


def test_lines_are_the_translations_in_order() -> None:
    assert read_plain("Un.\n\nद्वौ।\n", "fra.dev", ids_of(3)) == Returned(
        name=NO_NAME,
        translations=(
            Translation("dev-0001", "Un.", "fra.dev", 1),
            Translation("dev-0002", "", "fra.dev", 2),
            Translation("dev-0003", "द्वौ।", "fra.dev", 3),
        ),
        sources=dict.fromkeys(ids_of(3), ""),
    )


@given(LINES.filter(lambda lines: not lines or not all(one.endswith("\r") for one in lines)))
@example([])
@example([""])
@example(["a", ""])
@example([" \ta\u00a0 ", "\ufeffb", "c\x85\u2028\x0b\x0c\x1c", "d\r", "\re", '"f ""g"""'])
def test_texts_are_to_the_letter(lines: list[str]) -> None:
    file = "".join(f"{line}\n" for line in lines)
    assert texts_of(file, len(lines)) == lines


@given(LINES.filter(lambda lines: lines and lines[-1] and "\r" not in "".join(lines)))
def test_the_last_line_may_lack_its_end(lines: list[str]) -> None:
    assert texts_of("\n".join(lines), len(lines)) == texts_of("\n".join(lines) + "\n", len(lines))


@pytest.mark.parametrize(
    ("file", "lines"),
    read_cases("translation/sheet", "carriage_returns"),
)
def test_carriage_returns(file: str, lines: list[str]) -> None:
    assert texts_of(file, len(lines)) == lines


@pytest.mark.parametrize(
    ("file", "count", "message"),
    read_cases("translation/sheet", "not_aligned"),
)
def test_what_cannot_be_aligned(file: str, count: int, message: str) -> None:
    assert error_of(ReadError, read_plain, file, "fra.dev", ids_of(count)) == message
