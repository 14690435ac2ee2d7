"""Packets through the tools of others, which fill what is missing and save: all comes back as it was.

XLIFF goes through Okapi's library (OmegaT, Tikal and Rainbow stand on it), which checks it against the
schemas of OASIS, and the Translate Toolkit (Weblate stands on it); sheets go through LibreOffice.
CORPUSMILL_OKAPI is a folder of jars, CORPUSMILL_TRANSLATE_TOOLKIT the Python that has the toolkit (under the
GPL, so in an environment of its own); a tool that is not there is skipped.
"""

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from corpusmill.pipelines.translation.packet_files import (
    Returned,
    decode_sheet,
    read_sheet,
    write_sheet,
)
from corpusmill.pipelines.translation.xliff import read_xliff, write_xliff, write_xliff_1
from tests.pipelines.translation.samples import CONTROLS, TRICKY_TEXTS, tricky_packet

pytestmark = pytest.mark.compat

USE_TOOLKIT = """
import sys
from translate.storage.xliff import Xliff1File
from translate.storage.xliff2 import Xliff2File
is_old = b'version="1.2"' in open(sys.argv[1], "rb").read(200)
store = (Xliff1File if is_old else Xliff2File).parsefile(sys.argv[1])
for unit in store.units:
    if "fill" in sys.argv and unit.istranslatable() and not unit.target:
        unit.target = unit.source
        unit.marktranslated()
store.savefile(sys.argv[2])
"""
# Input: tab, quotation mark, UTF-8, from line 1. Output: the same or another, fields quoted or not.
READ_SHEET = "CSV:9,34,76,1"
SAVE_SHEET = "csv:Text - txt - csv (StarCalc):{delimiter},34,{encoding},1,,0,{quoted},true,false"
UTF8, UTF16 = 76, 65535

# What a spreadsheet takes for a formula or a date.
CALCULATED = {"=SUM(A1)", "3/4"}


def run(command: Sequence[str | Path], folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def run_okapi(
    document: bytes, folder: Path, program: str = "FillTargets"
) -> subprocess.CompletedProcess[str]:
    """Writes "out.xlf" beside "in.xlf"."""
    jars = os.environ.get("CORPUSMILL_OKAPI", "")
    if not jars or not shutil.which("java"):
        pytest.skip("no Java, or CORPUSMILL_OKAPI does not name a folder of jars")
    (folder / "in.xlf").write_bytes(document)
    source = Path(__file__).with_name(f"{program}.java")
    return run(["java", "-cp", f"{jars}/*", source, "in.xlf", "out.xlf", "zh-Hans"], folder)


def check(returned: Returned, texts: tuple[str, ...]) -> None:
    """Checks that existing targets are unchanged, and missing ones are as their source."""
    packet = tricky_packet(texts)
    assert returned.name == (packet.project, packet.language.code, packet.round, packet.number)
    assert returned.sources == {each.source.id: each.source.text for each in packet.lines}
    assert {each.id: each.text for each in returned.translations} == {
        each.source.id: each.target or each.source.text for each in packet.lines
    }


def test_okapi(tmp_path: Path) -> None:
    texts = TRICKY_TEXTS + CONTROLS
    done = run_okapi(write_xliff(tricky_packet(texts)), tmp_path)
    assert done.returncode == 0, done.stderr
    check(read_xliff((tmp_path / "out.xlf").read_bytes(), "out.xlf"), texts)


def test_okapi_of_xliff_1(tmp_path: Path) -> None:
    document = write_xliff_1(tricky_packet(TRICKY_TEXTS))
    done = run_okapi(document, tmp_path, "FillTargets12")
    assert done.returncode == 0, done.stderr
    check(read_xliff((tmp_path / "out.xlf").read_bytes(), "out.xlf"), TRICKY_TEXTS)


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        (b'state="initial"', b'state="done"'),
        (b'canResegment="no"', b'resegment="no"'),
        (b"</notes>\n<segment", b"</notes>\n<group/><segment"),
    ],
)
def test_okapi_finds_what_is_not_of_the_standard(
    tmp_path: Path, right: bytes, wrong: bytes
) -> None:
    document = write_xliff(tricky_packet(TRICKY_TEXTS))
    done = run_okapi(document.replace(right, wrong, 1), tmp_path)
    assert done.returncode != 0
    assert "XLIFFReaderException" in done.stderr


def run_toolkit(document: bytes, folder: Path, *arguments: str) -> bytes:
    """The document that the toolkit has saved."""
    python = os.environ.get("CORPUSMILL_TRANSLATE_TOOLKIT")
    if not python:
        pytest.skip("CORPUSMILL_TRANSLATE_TOOLKIT does not name a Python")
    (folder / "in.xlf").write_bytes(document)
    done = run([python, "-c", USE_TOOLKIT, "in.xlf", "out.xlf", *arguments], folder)
    assert done.returncode == 0, done.stderr
    saved = (folder / "out.xlf").read_bytes()
    assert saved != document  # it puts blanks between the elements
    return saved


def test_translate_toolkit(tmp_path: Path) -> None:
    texts = TRICKY_TEXTS + CONTROLS[:1]  # it copies no <cp>
    saved = run_toolkit(write_xliff(tricky_packet(texts)), tmp_path, "fill")
    check(read_xliff(saved, "out.xlf"), texts)


def test_translate_toolkit_of_xliff_1(tmp_path: Path) -> None:
    saved = run_toolkit(write_xliff_1(tricky_packet(TRICKY_TEXTS)), tmp_path, "fill")
    check(read_xliff(saved, "out.xlf"), TRICKY_TEXTS)


def test_translate_toolkit_leaves_what_it_does_not_touch(tmp_path: Path) -> None:
    document = write_xliff(tricky_packet(TRICKY_TEXTS + CONTROLS))
    before = read_xliff(document, "")
    after = read_xliff(run_toolkit(document, tmp_path), "")
    assert after.sources == before.sources
    assert [each[:2] for each in after.translations] == [each[:2] for each in before.translations]


@pytest.mark.parametrize(
    ("delimiter", "encoding", "quoted"),
    [("9", UTF8, "false"), ("9", UTF8, "true"), ("44", UTF8, "false"), ("9", UTF16, "false")],
)
def test_libreoffice(tmp_path: Path, delimiter: str, encoding: int, quoted: str) -> None:
    office = shutil.which("soffice")
    if not office:
        pytest.skip("LibreOffice is not installed")
    packet = tricky_packet(TRICKY_TEXTS)
    (tmp_path / "in.tsv").write_text(write_sheet(packet), "utf-8", newline="")
    profile = f"-env:UserInstallation={(tmp_path / 'profile').as_uri()}"
    save = SAVE_SHEET.format(delimiter=delimiter, encoding=encoding, quoted=quoted)
    command = [office, "--headless", profile, f"--infilter={READ_SHEET}", "--convert-to", save]
    done = run([*command, "in.tsv"], tmp_path)
    assert done.returncode == 0, done.stderr
    returned = read_sheet(decode_sheet((tmp_path / "in.csv").read_bytes()), "in.csv")
    assert returned.name == (packet.project, packet.language.code, packet.round, packet.number)
    assert len(returned.sources) == len(packet.lines)
    targets = {each.id: each.text for each in returned.translations}
    for each in packet.lines:
        for text, saved in (
            (each.source.text, returned.sources[each.source.id]),
            (each.target, targets.get(each.source.id, "")),
        ):
            assert (saved == text) == (text not in CALCULATED), (text, saved)
