import bz2
import gzip
import itertools
import lzma
import os
import pathlib
import random
import tarfile
from collections.abc import Callable, Sequence
from typing import Any
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corpusmill.transforms.files import read_lines, work_units
from corpusmill.transforms.files.bz2_blocks import find_marks
from corpusmill.transforms.files.counters import LostBytes
from corpusmill.transforms.files.line_blocks import lines_of
from corpusmill.transforms.files.read_files import InputError
from corpusmill.transforms.files.read_lines import (
    ReadLines,
    TextFile,
    find_files,
    line_bytes_of,
    plan_units,
)
from corpusmill.transforms.files.records import Rejected
from tests.makers.bz2_files import pack_stream
from tests.makers.compressed import COMPRESS
from tests.makers.tar_files import FORMATS, pack_links, pack_tar
from tests.tools.run_pipeline import Outcome, run_pipeline

NAME = "news.2007.en.shuffled"
MALFORMED = b"Caf\xe9 \x00 ol\xc3\xa9 " + b"x" * 100
SURROGATE = b"\xed\xa0\x80 and \xf4\x90\x80\x80 are UTF-8 to Perl"
TEXT = (
    b"The first line .\n"
    + MALFORMED
    + b"\n\r\n"
    + SURROGATE
    + b"\nA line with  blanks \n\xff\n\n"
    + "Ein Überblick über „alles“".encode()
)
KEPT = [line for line in TEXT.split(b"\n") if line not in (MALFORMED, b"\xff")]
OFFSETS = {17: MALFORMED, TEXT.index(b"\xff"): b"\xff"}


def write_file(folder: pathlib.Path, name: str, content: bytes) -> str:
    (folder / name).write_bytes(content)
    return str(folder / name)


def read(paths: Sequence[str], *args: Any, **settings: Any) -> Outcome:
    return run_pipeline(lambda root: root | ReadLines(paths, *args, **settings))


def lines_in(outcome: Outcome) -> list[bytes]:
    return sorted(itertools.chain(*map(lines_of, outcome.elements["blocks"])))


def rejections_of(name: str, head: str = "") -> list[Rejected]:
    details = ("Caf\\xe9 \x00 olé " + "x" * (100 - 15), "\\xff")
    return sorted(
        Rejected(f"{name}:{head}{offset}", "", "read-lines", "malformed-utf-8", detail)
        for offset, detail in zip(OFFSETS, details, strict=True)
    )


@pytest.mark.parametrize("stripes", [1, 3])
@pytest.mark.parametrize("suffix", COMPRESS)
def test_everything_is_accounted_for(tmp_path: pathlib.Path, suffix: str, stripes: int) -> None:
    stored = COMPRESS[suffix](TEXT)
    path = write_file(tmp_path, NAME + suffix, stored)
    with mock.patch.object(work_units, "MIN_UNIT_BYTES", len(stored) if not suffix else 1):
        outcome = read([path], stripes)
        assert line_bytes_of([path], stripes) == outcome.counters["read-lines/dump_bytes"]
        units = plan_units([path], stripes)
    assert lines_in(outcome) == sorted(KEPT)
    rejected = rejections_of(NAME + suffix, "4+" if suffix == ".bz2" else "")
    assert sorted(outcome.elements["rejected"]) == rejected
    assert all(len(one.detail.encode()) <= 100 for one in rejected)
    assert outcome.elements["lost"] == []
    assert outcome.elements["unterminated"] == [NAME + suffix]
    assert sum(outcome.elements["lines"]) == len(KEPT) + 2
    assert len(outcome.elements["lines"]) == len(units)
    assert len(units) == stripes or suffix in ("", ".bz2")
    assert outcome.counters == {
        "read-lines/dump_bytes": sum(unit.unit.end - unit.unit.start for unit in units),
        "read-lines/text_bytes": len(TEXT) + 1,
        "read-lines/lines": len(KEPT),
        "read-lines/malformed-utf-8": 2,
    }


@pytest.mark.parametrize("limit", [1, 2, 5, 8, 9, 16])
def test_of_the_first_lines_no_more_are_read(tmp_path: pathlib.Path, limit: int) -> None:
    paths = [write_file(tmp_path, f"{number}.gz", gzip.compress(TEXT)) for number in (1, 2)]
    outcome = read(paths, 2, limit=limit, block_bytes=150)
    lines = [*TEXT.split(b"\n"), *TEXT.split(b"\n")][:limit]
    assert lines_in(outcome) == sorted(line for line in lines if line not in (MALFORMED, b"\xff"))
    assert sum(outcome.elements["lines"]) == limit
    assert len(outcome.elements["rejected"]) == sum(line in (MALFORMED, b"\xff") for line in lines)


@pytest.mark.parametrize("compress", COMPRESS.values())
@pytest.mark.parametrize("pack", [bytes, gzip.compress, bz2.compress])
def test_archives(
    tmp_path: pathlib.Path, compress: Callable[[bytes], bytes], pack: Callable[[bytes], bytes]
) -> None:
    files = [
        (f"training-monolingual/{NAME}", pack(TEXT)),
        ("training-monolingual/news.2007.de.shuffled", pack(b"Eine Zeile\n")),
        ("news.2008.en.shuffled.gz", pack(b"one\n\xff\n")),
    ]
    path = write_file(tmp_path, "training-monolingual.tgz", compress(pack_tar(files)))
    outcome = read([path], 3)
    assert lines_in(outcome) == sorted([*KEPT, b"one"])
    is_entered = compress is bytes and pack is bz2.compress
    head = "4+" if is_entered else ""
    names = [f"training-monolingual.tgz/{name}" for name, _ in files]
    second = Rejected(f"{names[2]}:{head}4", "", "read-lines", "malformed-utf-8", "\\xff")
    assert sorted(outcome.elements["rejected"]) == sorted([*rejections_of(names[0], head), second])
    assert outcome.elements["unterminated"] == [names[0]]
    assert sum(outcome.elements["lines"]) == len(KEPT) + 2 + 2
    stored_bytes = (
        sum(len(content) for name, content in files if ".en." in name)
        if compress is bytes
        else pathlib.Path(path).stat().st_size
    )
    assert outcome.counters["read-lines/dump_bytes"] == stored_bytes
    assert line_bytes_of([path], 3) == stored_bytes


def test_other_members_may_be_wanted(tmp_path: pathlib.Path) -> None:
    files = [("news.2007.de.shuffled", b"eins\n"), ("news.2007.en.shuffled", b"one\n")]
    path = write_file(tmp_path, "x.tar", gzip.compress(pack_tar(files)))
    assert lines_in(read([path], members=["nothing", "*.de.*"])) == [b"eins"]


@pytest.mark.parametrize("compress", [bytes, gzip.compress])
def test_an_archive_without_a_wanted_file_is_an_error(
    tmp_path: pathlib.Path, compress: Callable[[bytes], bytes]
) -> None:
    files = [(f"mono/europarl.{number}", b"x\n") for number in range(9)]
    path = write_file(tmp_path, "x.tgz", compress(pack_tar(files)))
    told = "mono/europarl.0, mono/europarl.1, .*, mono/europarl.4, …"
    message = f"InputError: {path}: the archive has no file news.20.*shuffled.*; it contains {told}"
    for on_corrupt in ("fail", "keep-good"):
        with pytest.raises(Exception, match=message):
            read([path], 2, on_corrupt)
    path = write_file(tmp_path, "empty.tar", compress(pack_tar([])))
    with pytest.raises(Exception, match=r"the archive has no file .*; it contains no files"):
        read([path])


contents = st.lists(
    st.sampled_from([b"\n", b"a", b"bc\n", b"de" * 20, b"\r\n", b"\xff", "é".encode()]), max_size=25
).map(b"".join)


@settings(max_examples=100, deadline=None)
@given(
    st.lists(contents, min_size=1, max_size=4),
    st.randoms(use_true_random=False),
    st.integers(1, 4),
    st.integers(1, 200),
    st.integers(1, 40),
    st.sampled_from([12, 1000]),
)
def test_the_lines_do_not_depend_on_how_files_are_packed_and_cut(
    tmp_path_factory: pytest.TempPathFactory,
    texts: list[bytes],
    chance: random.Random,
    stripes: int,
    block_bytes: int,
    unit_bytes: int,
    max_line_bytes: int,
) -> None:
    folder = tmp_path_factory.mktemp("lines")
    paths = [write_packed(folder, number, text, chance) for number, text in enumerate(texts)]
    lines = [
        line + b"\n"
        for text in texts
        for line in (text if text.endswith(b"\n") or not text else text + b"\n").split(b"\n")[:-1]
    ]
    with (
        mock.patch.object(work_units, "MIN_UNIT_BYTES", unit_bytes),
        mock.patch.object(work_units, "MAX_UNIT_BYTES", unit_bytes),
        mock.patch.object(work_units, "STRIPE_RUN_BYTES", unit_bytes),
        mock.patch.object(work_units, "MAX_LINE_BYTES", max_line_bytes),
    ):
        read_count, kept, rejected, unterminated = read_plainly(paths, stripes, block_bytes)
        _, _, rejected_alone, _ = read_plainly(paths, 1, 1000)
    good = [line for line in lines if len(line) <= max_line_bytes and b"\xff" not in line]
    assert sorted(kept) == sorted(good)
    assert read_count == len(lines)
    assert len(rejected) == len(lines) - len(good)
    assert sorted(rejected) == sorted(rejected_alone)
    assert len({one.id for one in rejected}) == len(rejected)
    overlong = [one for one in rejected if one.reason == "line-too-long"]
    assert len(overlong) == sum(len(line) > max_line_bytes for line in lines)
    ends = [text for text in texts if text and not text.endswith(b"\n")]
    assert len(unterminated) <= len(ends)
    assert overlong or len(unterminated) == len(ends)


def write_packed(folder: pathlib.Path, number: int, text: bytes, chance: random.Random) -> str:
    """The text in a file, in one of the ways that a text can be stored in."""
    pieces = [text[at : at + 20] for at in range(0, len(text), 20)]
    packings: list[Callable[[bytes], bytes]] = [
        *COMPRESS.values(),
        lambda _: pack_stream(pieces),
        lambda _: b"".join(map(gzip.compress, pieces)),
    ]
    content = chance.choice(packings)(text)
    if chance.random() < 0.5:
        files = [(f"news.200{number}.en.shuffled", content), ("other", b"other\n")]
        content = chance.choice([*COMPRESS.values()])(pack_tar(files, chance.choice(FORMATS)))
    return write_file(folder, f"{number}", content)


def read_plainly(
    paths: Sequence[str], stripes: int, block_bytes: int
) -> tuple[int, list[bytes], list[Rejected], list[str]]:
    """(lines read, kept, rejected, names of files that lack the last line feed), without a runner."""
    read_count, kept, rejected, unterminated = 0, [], [], []
    for unit in plan_units(paths, stripes):
        for output in read_lines._read_unit(unit, "fail", read_lines.MEMBERS, block_bytes):
            if isinstance(output, bytes):
                assert len(output) <= block_bytes or output.count(b"\n") == 1
                kept += [line + b"\n" for line in lines_of(output)]
            elif output.tag == "lines":
                read_count += output.value
            elif output.tag == "rejected":
                rejected.append(output.value)
            else:
                assert output.tag == "unterminated"
                unterminated.append(output.value)
    return read_count, kept, rejected, unterminated


def test_blocks_of_half_a_corpus_are_one_element_each(tmp_path: pathlib.Path) -> None:
    paths = [
        write_file(tmp_path, f"news.200{year}.en.shuffled.gz", gzip.compress(b"a line\n" * 1000))
        for year in range(3)
    ]
    outcome = read(paths, block_bytes=700)
    assert [len(block) for block in outcome.elements["blocks"]] == [700] * 30
    assert outcome.elements["lines"] == [1000] * 3


def test_overlong_lines_are_rejected(tmp_path: pathlib.Path) -> None:
    path = write_file(tmp_path, NAME, b"one\n" + "ä".encode() * 150 + b"\ntwo\n")
    with mock.patch.object(work_units, "MAX_LINE_BYTES", 200):
        outcome = read([path])
    assert lines_in(outcome) == [b"one", b"two"]
    (rejected,) = outcome.elements["rejected"]
    assert rejected == Rejected(f"{NAME}:4", "", "read-lines", "line-too-long", "ä" * 50)
    assert outcome.elements["lines"] == [3]
    assert outcome.counters["read-lines/line-too-long"] == 1
    assert outcome.counters["read-lines/lines"] == 2


@pytest.mark.parametrize(
    ("stored", "place", "message"),
    [
        (gzip.compress(TEXT)[:-8], len(TEXT), "truncated: .*uncompressed text"),
        (
            gzip.compress(TEXT)[:30] + b"?" + gzip.compress(TEXT)[31:],
            "[0-9]+",
            "damaged or truncated",
        ),
        (bz2.compress(TEXT)[:-11], 4, "the file ends inside a bz2 block"),
        (lzma.compress(TEXT)[:-12], len(TEXT), "truncated: .*uncompressed text"),
        (pack_tar([(NAME, TEXT)])[:1200], 1200, "the archive is truncated"),
        (gzip.compress(pack_tar([(NAME, TEXT)]))[:-9], 10240, "truncated: .*bytes of the archive"),
        (
            gzip.compress(pack_tar([(NAME, gzip.compress(TEXT)[:-8])])),
            1024,
            f"{NAME} is damaged or truncated at byte {len(TEXT)} of its text: .*bytes of the archive",
        ),
    ],
)
@pytest.mark.parametrize("stripes", [1, 2])
def test_damage_fails_and_names_the_place_or_is_told(
    tmp_path: pathlib.Path, stored: bytes, place: object, message: str, stripes: int
) -> None:
    path = write_file(tmp_path, NAME, stored)
    with mock.patch.object(work_units, "MIN_UNIT_BYTES", len(stored)):
        with pytest.raises(Exception, match=f"InputError: {path}, byte {place}: .*{message}"):
            read([path], stripes)
        outcome = read([path], stripes, "keep-good")
    (lost,) = outcome.elements["lost"]
    assert lost.name == NAME
    assert set(lines_in(outcome)) < set(KEPT)
    assert outcome.elements["unterminated"] == []


@pytest.mark.parametrize("pack", [bytes, lambda content: pack_tar([(NAME, content)])])
def test_a_file_that_has_become_shorter_is_damage(
    tmp_path: pathlib.Path, pack: Callable[[bytes], bytes]
) -> None:
    lines = [b"line %d\n" % number for number in range(1000)]
    path = write_file(tmp_path, NAME, pack(b"".join(lines)))
    with mock.patch.object(work_units, "MIN_UNIT_BYTES", 3000):
        units = plan_units([path], 1)
    assert len(units) == 3
    os.truncate(path, pathlib.Path(path).read_bytes().index(lines[500]) + 3)
    how = read_lines.MEMBERS, 1000
    found = [output for unit in units for output in read_lines._read_unit(unit, "keep-good", *how)]
    kept = [output for output in found if isinstance(output, bytes)]
    assert b"".join(kept) == b"".join(lines[:500])
    others = [output for output in found if not isinstance(output, bytes)]
    lost = [output.value for output in others if output.tag == "lost"]
    start = len(b"".join(lines[:500])) + 3
    assert [(one.start, one.end) for one in lost] == [
        (start, units[1].unit.end),
        *((planned.unit.start, planned.unit.end) for planned in units[2:]),
    ]
    assert {output.tag for output in others} == {"lost", "lines"}
    with pytest.raises(InputError, match=f"^{path}.*, byte {start}: the file has become shorter"):
        list(read_lines._read_unit(units[1], "fail", *how))


@pytest.mark.parametrize(
    ("kind", "problem"),
    [
        (tarfile.LNKTYPE, "is a link to a/b: such an archive has to be unpacked first"),
        (tarfile.CHRTYPE, "is a character device, not a regular file"),
    ],
)
@pytest.mark.parametrize("compress", [bytes, gzip.compress])
def test_links_and_devices_in_an_archive(
    tmp_path: pathlib.Path, compress: Callable[[bytes], bytes], kind: bytes, problem: str
) -> None:
    files = [(f"a/{NAME}", b"one\n"), ("a/b", b"two\n")]
    repeat = ("a/news.2008.en.shuffled", tarfile.LNKTYPE, f"a/{NAME}")
    link = ("a/news.2009.en.shuffled", kind, "a/b")
    path = write_file(tmp_path, "x.tar", compress(pack_links(files, [repeat])))
    outcome = read([path])
    assert lines_in(outcome) == [b"one"]
    assert outcome.elements["lost"] == []
    packed = pack_links(files, [repeat, link])
    path = write_file(tmp_path, "y.tar", compress(packed))
    place = packed.index(link[0].encode()) + 512
    message = f"a/news.2009.en.shuffled {problem}"
    with pytest.raises(Exception, match=f"InputError: {path}, byte {place}: {message}"):
        read([path])
    outcome = read([path], on_corrupt="keep-good")
    assert lines_in(outcome) == [b"one"]
    assert outcome.elements["lost"] == [LostBytes("y.tar", place, place, message, -1, "")]


@pytest.mark.parametrize("suffix", [".bz2", ".xz"])
def test_no_stream_is_lost_without_a_word(tmp_path: pathlib.Path, suffix: str) -> None:
    first, second = COMPRESS[suffix](b"one\n"), COMPRESS[suffix](b"two\n")
    path = write_file(tmp_path, NAME, first + second)
    assert lines_in(read([path])) == [b"one", b"two"]
    path = write_file(tmp_path, NAME, first + b"junk" + second)
    with pytest.raises(Exception, match=f"InputError: {path}, byte "):
        read([path])
    path = write_file(tmp_path, NAME, first + bytes(8) + second)
    if suffix == ".xz":
        assert lines_in(read([path])) == [b"one", b"two"]
    else:
        with pytest.raises(Exception, match=f"InputError: {path}, byte "):
            read([path])


def test_damage_in_a_member_that_is_entered_names_it(tmp_path: pathlib.Path) -> None:
    packed = pack_tar([(NAME, gzip.compress(TEXT)[:-8])])
    path = write_file(tmp_path, "x.tar", packed)
    with pytest.raises(
        Exception, match=f"InputError: {path}/{NAME}, byte {len(TEXT)}: .*truncated"
    ):
        read([path])
    outcome = read([path], on_corrupt="keep-good")
    (lost,) = outcome.elements["lost"]
    assert lost.name == f"x.tar/{NAME}"


def test_damage_is_told_and_the_rest_kept(tmp_path: pathlib.Path) -> None:
    lines = [b"line %d\n" % number for number in range(1, 41)]
    stored = bytearray(pack_stream([b"".join(lines[at : at + 10]) for at in range(0, 40, 10)]))
    _, start_bit, end_bit, *_ = (bit for bit, _ in find_marks(stored))
    start, end = start_bit // 8, -(-end_bit // 8)
    stored[(start + end) // 2] ^= 255
    path = write_file(tmp_path, NAME, bytes(stored))
    with pytest.raises(Exception, match=f"InputError: {path}, byte {start}: a damaged bz2 block"):
        read([path])
    outcome = read([path], on_corrupt="keep-good")
    # The first line of the third block may be the rest of one that begins in the second.
    assert outcome.elements["lines"] == [29]
    assert lines_in(outcome) == sorted(line[:-1] for line in [*lines[:10], *lines[21:]])
    lost = LostBytes(NAME, start, end, "a damaged bz2 block", -1, "")
    assert outcome.elements["lost"] == [lost]
    assert outcome.elements["unterminated"] == []
    assert outcome.counters["read-lines/damages"] == 1
    assert outcome.counters["read-lines/dump_bytes"] == len(stored)


def test_files_of_an_archive_that_is_not_compressed_are_entered(tmp_path: pathlib.Path) -> None:
    packed = pack_tar([(f"a/{NAME}", b"one\n"), ("b", b""), ("news.2008.en.shuffled", TEXT)])
    path = write_file(tmp_path, "x.tar", packed)
    files = find_files(path)
    assert files == [
        TextFile(path, f"a/{NAME}", 1024, 4),
        TextFile(path, "news.2008.en.shuffled", 512 * 5, len(TEXT)),
    ]
    assert [(planned.file, planned.unit.kind) for planned in plan_units([path], 9)] == [
        (file, "plain") for file in files
    ]
    assert find_files(write_file(tmp_path, "y", b"one\n" * 200))[0].member == ""


def test_stripes_are_for_large_files(tmp_path: pathlib.Path) -> None:
    large = write_file(tmp_path, "large", gzip.compress(bytes(4000), 0))
    small = write_file(tmp_path, "small", gzip.compress(bytes(400), 0))
    with mock.patch.object(work_units, "MIN_UNIT_BYTES", 100):
        units = plan_units([large, small], 4)
    assert [(unit.file.path, unit.unit.stripe, unit.unit.stripes) for unit in units] == [
        *((large, stripe, 4) for stripe in range(4)),
        (small, 0, 1),
    ]
