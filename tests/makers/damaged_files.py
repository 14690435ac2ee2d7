"""Damages files as disks, downloads and hands do: chops, flips, splices; the same seed gives the same damage.

A packed file is damaged as it is stored, or inside: then its content is damaged and packed again, so that the
damage is met by what reads the content, and not by a checksum.
"""

import bz2
import functools
import gzip
import io
import lzma
import random
import re
import tarfile
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from tests.makers.book_files import zip_members
from tests.makers.tar_files import pack_tar
from tests.makers.zip_files import pack_zip

_INSIDE = 0.6  # share of the packed files that are damaged inside
_AS_TEXT = 0.6  # share of the texts that are damaged as texts
_MOST_GROWTH = 1 << 18
_DEPTHS = (10, 1_000, 20_000)

_NUMBER = re.compile(rb"-?[0-9]+(?:\.[0-9]+)?")
_VALUE = re.compile(rb'"[^"\n]{0,200}"|-?[0-9]+(?:\.[0-9]+)?|\btrue\b|\bfalse\b|\bnull\b')
_ODD_NUMBERS = (
    *(b"0", b"-1", b"-0", b"1.5", b"1e999", b"NaN", b"0x1F", b"1_000", b"+7", b"", b"\xd9\xa3"),
    *(b"9223372036854775807", b"9223372036854775808", b"1" + b"0" * 40, b"9" * 5_000),
)
_ODD_VALUES = (
    *(b"null", b"true", b"[]", b"{}", b'""', b'"x"', b"-1", b"0.5", b"1e999", b"[[[]]]", b"[null]"),
    *(b'{"a": 1}', b"1" + b"0" * 40, b'"' + b"x" * 10_000 + b'"', b'"\\ud800"', b'"\\u0000"'),
)
_ODD_BYTES = (
    *b"\0 \xff \x80 \xef\xbb\xbf \xed\xa0\x80".split(b" "),
    *(b"\r", b"\r\n", b"\n\n", b"\t"),
    *b"\\ \" ' ` < > & &#0; &#xD800; &lol; ]]> <!-- /* --".split(b" "),
    *(b"<!DOCTYPE a [<!ENTITY b 'c'>]>", b"<?xml version='1.0' encoding='utf-16'?>"),
    *b"\xe2\x80\xa8 <page> </page> <target> VALUES".split(b" "),
    *(b"INSERT INTO `page` VALUES (1,2);\n", b"\x1a"),
)
_OPENINGS = (
    *b"{ [ ( <a> {{ [[ {\"a\": <!-- <ref> '''".split(b" "),
    *(b"{|\n", b"&amp;"),
)


class Damaged(NamedTuple):
    """A damaged file."""

    data: bytes
    how: str  # "gz/flip"


def damage(data: bytes, chance: random.Random, donors: Sequence[bytes]) -> Damaged:
    """The file with one damage, or with two or three in one of five cases.

    Args:
      donors: files of any kind, from which pieces are taken.
    """
    packing = _packing_of(data)
    if packing and chance.random() < _INSIDE:
        parts, pack = packing.parts, packing.pack
        if parts:
            place = chance.randrange(len(parts))
            inner = damage(parts[place], chance, donors)
            packed = pack([*parts[:place], inner.data, *parts[place + 1 :]])
            return Damaged(packed, f"{packing.name}/{inner.how}")
    names = []
    for _ in range(chance.choice((1, 1, 1, 1, 1, 1, 1, 1, 2, 3))):
        is_text = not packing and b"\0" not in data[:4096] and chance.random() < _AS_TEXT
        ways = _OF_TEXTS if is_text else _OF_BYTES
        name = chance.choice(sorted(ways))
        data = ways[name](data, chance, donors)
        names.append(name)
    return Damaged(data, "+".join(names))


# Ways.


def _span(size: int, chance: random.Random) -> tuple[int, int]:
    """Start and end of a stretch: as often some bytes as some thousands."""
    length = min(int(2 ** chance.uniform(0, max(size, 2).bit_length())), size)
    start = chance.randint(0, size - length)
    return start, start + length


def _cut_end(data: bytes, chance: random.Random, _: Sequence[bytes]) -> bytes:
    return data[: chance.randint(0, len(data))]


def _cut_start(data: bytes, chance: random.Random, _: Sequence[bytes]) -> bytes:
    return data[_span(len(data), chance)[0] :]


def _cut_out(data: bytes, chance: random.Random, _: Sequence[bytes]) -> bytes:
    start, end = _span(len(data), chance)
    return data[:start] + data[end:]


def _flip(data: bytes, chance: random.Random, _: Sequence[bytes]) -> bytes:
    flipped = bytearray(data)
    for _number in range(chance.choice((1, 1, 1, 2, 8, 64))):
        if flipped:
            flipped[chance.randrange(len(flipped))] ^= 1 << chance.randrange(8)
    return bytes(flipped)


def _overwrite(data: bytes, chance: random.Random, _: Sequence[bytes]) -> bytes:
    start, end = _span(len(data), chance)
    return data[:start] + chance.randbytes(end - start) + data[end:]


def _zero(data: bytes, chance: random.Random, _: Sequence[bytes]) -> bytes:
    start, end = _span(len(data), chance)
    return data[:start] + bytes(end - start) + data[end:]


def _repeat(data: bytes, chance: random.Random, _: Sequence[bytes]) -> bytes:
    start, end = _span(len(data), chance)
    times = min(chance.choice((1, 1, 2, 50)), _MOST_GROWTH // max(end - start, 1))
    return data[:end] + data[start:end] * times + data[end:]


def _swap(data: bytes, chance: random.Random, _: Sequence[bytes]) -> bytes:
    first, second = sorted(chance.sample(range(len(data) + 1), 2)) if data else (0, 0)
    return data[second:] + data[first:second] + data[:first]


def _splice(data: bytes, chance: random.Random, donors: Sequence[bytes]) -> bytes:
    donor = chance.choice(donors)
    first, last = _span(len(donor), chance)
    start, end = _span(len(data), chance)
    piece = donor[first : min(last, first + _MOST_GROWTH)]
    return data[:start] + piece + data[chance.choice((start, end)) :]


def _append(data: bytes, chance: random.Random, donors: Sequence[bytes]) -> bytes:
    return data + chance.choice((data, chance.choice(donors)))[:_MOST_GROWTH]


def _replace(_: bytes, chance: random.Random, donors: Sequence[bytes]) -> bytes:
    return chance.choice((b"", b"\n", b"<html><head><title>404</title></head></html>", *donors))


def _odd_number(data: bytes, chance: random.Random, _: Sequence[bytes]) -> bytes:
    return _put(data, _NUMBER, chance.choice(_ODD_NUMBERS), chance)


def _odd_value(data: bytes, chance: random.Random, _: Sequence[bytes]) -> bytes:
    return _put(data, _VALUE, chance.choice(_ODD_VALUES), chance)


def _put(data: bytes, pattern: re.Pattern[bytes], new: bytes, chance: random.Random) -> bytes:
    """Puts something in the place of the first match behind a place by chance."""
    found = pattern.search(data, chance.randint(0, len(data))) or pattern.search(data)
    return data[: found.start()] + new + data[found.end() :] if found else data + new


def _odd_bytes(data: bytes, chance: random.Random, _: Sequence[bytes]) -> bytes:
    place = chance.randint(0, len(data))
    return data[:place] + chance.choice(_ODD_BYTES) + data[place:]


def _nest(data: bytes, chance: random.Random, _: Sequence[bytes]) -> bytes:
    place = chance.randint(0, len(data))
    opening = chance.choice(_OPENINGS)
    return data[:place] + (opening * chance.choice(_DEPTHS))[:_MOST_GROWTH] + data[place:]


def _lose_lines(data: bytes, chance: random.Random, _: Sequence[bytes]) -> bytes:
    lines = data.splitlines(keepends=True)
    start, end = _span(len(lines), chance)
    return b"".join([*lines[:start], *lines[end:]])


def _shuffle_lines(data: bytes, chance: random.Random, _: Sequence[bytes]) -> bytes:
    lines = data.splitlines(keepends=True)
    start, end = _span(len(lines), chance)
    some = lines[start:end]
    chance.shuffle(some)
    return b"".join([*lines[:start], *some, *lines[end:]])


def _join_lines(data: bytes, chance: random.Random, _: Sequence[bytes]) -> bytes:
    start, end = _span(len(data), chance)
    return data[:start] + data[start:end].replace(b"\n", chance.choice((b"", b" "))) + data[end:]


def _lose_sign(data: bytes, chance: random.Random, _: Sequence[bytes]) -> bytes:
    return _put(data, re.compile(rb"[^\w\s]"), chance.choice((b"", b"", b"\t", b"\n")), chance)


def _recode(data: bytes, chance: random.Random, _: Sequence[bytes]) -> bytes:
    text = data.decode("utf-8", "replace")
    encoding = chance.choice(("utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-8-sig", "cp1252"))
    return text.encode(encoding, "replace")


def _other_line_ends(data: bytes, chance: random.Random, _: Sequence[bytes]) -> bytes:
    return data.replace(b"\n", chance.choice((b"\r\n", b"\r", b"\n\n", "\u2028".encode())))


_Way = Callable[[bytes, random.Random, Sequence[bytes]], bytes]


def _named(*ways: _Way) -> dict[str, _Way]:
    return {way.__name__[1:].replace("_", "-"): way for way in ways}


_OF_BYTES = _named(
    *(
        _append,
        _cut_end,
        _cut_out,
        _cut_start,
        _flip,
        _overwrite,
        _repeat,
        _replace,
        _splice,
        _swap,
    ),
    _zero,
)
_OF_TEXTS = _named(
    *(_join_lines, _lose_lines, _lose_sign, _nest, _odd_bytes, _odd_number, _odd_value),
    *(_other_line_ends, _recode, _shuffle_lines),
)


# Packings.


class _Packing(NamedTuple):
    name: str
    parts: Sequence[bytes]
    pack: Callable[[Sequence[bytes]], bytes]


@functools.lru_cache(maxsize=256)
def _packing_of(data: bytes) -> _Packing | None:
    try:
        return _unpack(data)
    except (EOFError, OSError):  # the beginning of a packed file
        return None


def _unpack(data: bytes) -> _Packing | None:
    if data.startswith(b"\x1f\x8b"):
        return _Packing("gz", [gzip.decompress(data)], lambda parts: _gzip(parts[0]))
    if data.startswith(b"BZh"):
        return _Packing("bz2", _bz2_streams(data), lambda parts: b"".join(map(bz2.compress, parts)))
    if data.startswith(b"\xfd7zXZ"):
        return _Packing("xz", [lzma.decompress(data)], lambda parts: _xz(parts[0]))
    if data.startswith(b"PK\3\4"):
        return _archive("zip", zip_members(data), pack_zip)
    if data[257:262] == b"ustar":
        with tarfile.open(fileobj=io.BytesIO(data)) as archive:
            files = {one.name: archive.extractfile(one) for one in archive if one.isreg()}
            return _archive(
                "tar", {name: file.read() for name, file in files.items() if file}, pack_tar
            )
    return None


def _archive(name: str, members: Mapping[str, bytes], pack: Callable[..., bytes]) -> _Packing:
    parts = list(members.values())
    return _Packing(name, parts, lambda new: pack(zip(members, new, strict=True), folder=""))


def _gzip(data: bytes) -> bytes:
    return gzip.compress(data, 1, mtime=0)


def _xz(data: bytes) -> bytes:
    return lzma.compress(data, preset=0)


def _bz2_streams(data: bytes) -> list[bytes]:
    streams = []
    while data:
        decompressor = bz2.BZ2Decompressor()
        streams.append(decompressor.decompress(data))
        data = decompressor.unused_data
    return streams
