"""Each form in which translators' files come back is read with the right texts, or refused with a remedy."""

import csv
import io
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from corpusmill.pipelines.translation.packet_files import (
    Packet,
    PacketLine,
    encodings_of,
    format_name,
    read_table_file,
)
from corpusmill.pipelines.translation.target_languages import find_language
from corpusmill.pipelines.translation.xliff import write_xliff, write_xliff_1
from corpusmill.transforms.files.records import ReadError
from tests.pipelines.translation.offices import Office
from tests.pipelines.translation.small_projects import IDS, state_of
from tests.tools.case_tables import read_tables
from tests.tools.real_data import DATA, needs_real_data

TABLES = read_tables("translation/returned_forms")
FORMS: list[dict[str, Any]] = TABLES["forms"]
COLUMNS = ("id", "source", "target", "packet")


def rows_of(packet: Packet, form: Mapping[str, Any]) -> list[list[str]]:
    """The header and rows of a table, in which each column may have another title or be left out."""
    taken = [name for name in COLUMNS if name not in form.get("leave_out", ())]
    titles = {"target": f'target "{packet.language.code}"', **form.get("columns", {})}
    values = [
        {"id": one.source.id, "source": one.source.text, "target": one.target}
        for one in packet.lines
        if one.source.id in form.get("only", IDS)
    ]
    header = [titles.get(name, name) for name in taken]
    return [
        header,
        *([{**row, "packet": format_name(packet)}[name] for name in taken] for row in values),
    ]


def table(packet: Packet, form: Mapping[str, Any]) -> str:
    rows, delimiter = rows_of(packet, form), form.get("delimiter", "\t")
    if (quoting := form.get("quoting", csv.QUOTE_MINIMAL)) == csv.QUOTE_NONE:
        return "".join("\t".join(row) + "\n" for row in rows)
    stream = io.StringIO()
    stream.write(form.get("before", ""))
    end = form.get("end", "\n")
    csv.writer(stream, delimiter=delimiter, quoting=quoting, lineterminator=end).writerows(rows)
    return stream.getvalue()


def workbook(packet: Packet, form: Mapping[str, Any]) -> bytes:
    book = openpyxl.Workbook()
    for place, sheet_rows in enumerate(form.get("sheets", [[]])):
        sheet = book.worksheets[0] if not place else book.create_sheet()
        for row in [sheet_rows] if sheet_rows else rows_of(packet, form):
            sheet.append(row)
    if "cell" in form:
        book.worksheets[0].cell(3, 3).value = form["cell"]
    stream = io.BytesIO()
    book.save(stream)
    return stream.getvalue()


MAKERS: Mapping[str, Callable[[Packet, Mapping[str, Any]], str | bytes]] = {
    "table": table,
    "workbook": workbook,
    "xliff_1": lambda packet, _: write_xliff_1(packet).decode(),
    "xliff_2": lambda packet, _: write_xliff(packet).decode(),
    "plain": lambda packet, form: "".join(
        f"{one.target}\n"
        for one in packet.lines
        if one.source.split == "dev" and f"{one.target}\n" not in form.get("leave_out", ())
    ),
    "raw": lambda _, form: form["data"].encode("latin-1"),
}


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form["file"])
def test_each_form_comes_in_or_is_refused_with_a_remedy(
    office: Office, form: Mapping[str, Any]
) -> None:
    code = form.get("read", "fra")
    office.make(code)
    texts = dict(zip(IDS, TABLES["texts"][code].split("|"), strict=True))
    lines = tuple(PacketLine(one, texts[one.id], ()) for one in office.project.sentences)
    packet = Packet(office.project.key, find_language(code), 1, 1, lines)
    made = MAKERS[form.get("make", "table")](packet, form)
    if isinstance(made, str):
        for old, new in filter(None, (form.get("change"), form.get("also_change"))):
            assert old in made
            made = made.replace(old, new)
            if form.get("make", "table") == "table" and "refused" not in form:
                texts = {name: text.replace(old, new) for name, text in texts.items()}
        mark = "\ufeff" * form.get("mark", False)
        made = f"{mark}{made}".encode(form.get("encoding", "utf-8"), "replace")
    path = office.folder / form["file"]
    path.write_bytes(made)
    refused = IDS if form.get("refused") == "*" else form.get("refused", ())
    ran = office.do(
        "import", path, *form.get("flags", ()), "--language", code, status=int(bool(refused))
    )
    assert form.get("told", "8 lines, 8 new") in ran.out
    found = state_of(office.project, code).translations
    assert {name: one.text for name, one in found.items()} == {
        name: text
        for name, text in texts.items()
        if name not in (*refused, *form.get("absent", ()))
    }


def test_there_are_at_least_sixty_forms() -> None:
    assert len({form["file"] for form in FORMS}) == len(FORMS) >= 60


@needs_real_data
def test_released_translations_are_never_read_in_a_wrong_encoding() -> None:
    folder = DATA / "flores" / "flores101_dataset" / "devtest"
    sources = dict(_lines(folder / "eng.devtest"))
    outcomes: Counter[tuple[int, str]] = Counter()
    for path in sorted(folder.glob("*[!g].devtest")):
        texts, language = dict(_lines(path)), find_language(path.stem)
        for encoding in encodings_of(path.stem):
            rows = [
                [name, sources[name], text]
                for name, text in texts.items()
                if _is_in(encoding, sources[name] + text)
            ]
            for size in (len(sources), 10):
                for start in range(0, len(rows), size * 7):
                    stream = io.StringIO()
                    header = ["id", "source", f'target "{language.code}"']
                    csv.writer(stream, delimiter=";").writerows(
                        [header, *rows[start : start + size]]
                    )
                    if (data := stream.getvalue().encode(encoding)).isascii():
                        continue
                    try:
                        found = read_table_file(data, path.name, sources).translations
                    except ReadError:
                        outcomes[size, "refused"] += 1
                    else:
                        assert all(texts[one.id] == one.text for one in found), (path, encoding)
                        outcomes[size, "read"] += 1
    assert outcomes == {
        (1012, "read"): 30,
        (1012, "refused"): 1,
        (10, "read"): 373,
        (10, "refused"): 25,
    }


def _lines(path: Path) -> Iterator[tuple[str, str]]:
    for number, text in enumerate(path.read_text("utf-8").splitlines(), 1):
        yield f"devtest-{number:04}", text


def _is_in(encoding: str, text: str) -> bool:
    return text.encode(encoding, "ignore").decode(encoding, "ignore") == text
