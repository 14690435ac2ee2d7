"""Reads text files as blocks of lines. This is the first step of builds of sentence corpora."""

import posixpath
from collections.abc import Iterator, Sequence
from typing import BinaryIO, NamedTuple

import apache_beam as beam

from . import bz2_blocks, counters, tar_members, work_units
from .compression import DECODE_ERRORS, codec_of, decompressed, read_some
from .counters import LostBytes, damage_error, tell_lost
from .distribution import Spread, transform
from .line_blocks import block_of, count_lines, lines_of, malformed_lines
from .read_files import InputError, file_bytes_of, open_raw
from .records import Rejected
from .tar_members import Member, TarError
from .work_units import (
    BLOCK_BYTES,
    Damage,
    FileUnit,
    LineBlock,
    NoMemberError,
    Unterminated,
    place_of,
)

STAGE = "read-lines"
HEAD_BYTES = 1 << 12
MEMBERS = ("news.20??.en.shuffled*",)
"""Patterns of the files of the corpus in the WMT 2011 archive, training-monolingual.tgz."""

_DETAIL_BYTES = 100
_TOLD_NAMES = 5


class LineBlocks(NamedTuple):
    """The outputs of ReadLines.

    These are blocks of lines, rejected lines, damaged parts of files, numbers of lines read, and names of
    files without a final line feed. Each line is in a block or rejected.
    """

    blocks: beam.PCollection  # of bytes: whole lines, each with its line feed (see line_blocks.py)
    rejected: beam.PCollection  # of Rejected: lines that are not UTF-8, or too long
    lost: beam.PCollection  # of LostBytes
    # of int, one for each unit: number of lines read, including rejected lines
    lines: beam.PCollection
    unterminated: beam.PCollection  # of str: names of files whose last line has no line feed


@transform
def ReadLines(
    root: beam.Pipeline,
    paths: Sequence[str],
    stripes: int = 1,
    on_corrupt: str = "fail",
    members: Sequence[str] = MEMBERS,
    block_bytes: int = BLOCK_BYTES,
    limit: int = 0,
) -> LineBlocks:
    """Reads text files in blocks of lines. Pipeline → LineBlocks.

    Files are divided into work units, which are distributed over the workers. The lines do not depend on the
    division of the input into files, or on the compression and the names of the files. The blocks and
    their order do depend on these.

    The last line of a file is read even if it has no line feed. (The scripts of the One Billion Word
    benchmark use `cat`, which would join it with the first line of the next file. Because the result then
    differs from that of the scripts, the output `unterminated` has the names of such files.)

    UTF-8 is checked by the rules of Perl (see line_blocks.py). The id of a rejected line consists of
    the name of the file, the path in the archive and the position (see work_units.py):
    "news.2007.en.shuffled.gz:4711", "training-monolingual.tgz/training-monolingual/news.2007.en.shuffled:0".

    Args:
      paths: files on any Beam file system: plain, .gz, .xz, .bz2, and .tar archives of such files, compressed
        or not. The types are detected from the contents. Archives are not unpacked to disk.
      stripes: number of workers. If a file cannot be split (.gz, .xz, .tgz), several workers may divide the
        work on it; `unit_blocks.shares_of` returns how many. Each of them decompresses the whole file.
      on_corrupt: "fail" raises InputError with file and byte at the first damage; "keep-good" skips and
        reports damaged parts.
      members: patterns that the names of the wanted files of an archive, without folders, must match.
      block_bytes: maximum size of a block; a longer line is a block of its own.
      limit: maximum number of lines in total, including rejected lines; 0 reads all lines. With a limit, one
        worker reads the files in the order of the paths.
    """
    units = root | "Paths" >> beam.Create([tuple(paths)], reshuffle=False)
    if not limit:
        units |= "SpreadUnits" >> Spread(plan_units, stripes, members, of=TextUnit)
    how = on_corrupt, tuple(members), block_bytes, limit
    read = beam.FlatMap(_read_first if limit else _read_unit, *how).with_output_types(bytes)
    found = units | "ReadUnits" >> read.with_outputs(
        "rejected", "lost", "lines", "unterminated", main="blocks"
    )
    return LineBlocks(found.blocks, found.rejected, found.lost, found.lines, found.unterminated)


class TextFile(NamedTuple):
    """A text file, or a file at a known position in an uncompressed archive."""

    path: str
    member: str  # "" for the file itself
    start: int  # byte offset in the stored file
    stored_bytes: int


class TextUnit(NamedTuple):
    """A work unit of a text file.

    Its offsets are relative to the start of the text file, not of the archive that contains it.
    """

    file: TextFile
    unit: FileUnit


def plan_units(
    paths: Sequence[str], stripes: int, members: Sequence[str] = MEMBERS
) -> list[TextUnit]:
    """Returns the work units of all files. Raises InputError for an archive without a wanted file.

    Args:
      paths: the input files.
      stripes: number of workers. A large file that cannot be split, such as a .gz, gets several units if
        there are enough workers.
      members: patterns that the names of the wanted files in an archive must match.
    """
    files = [file for path in paths for file in find_files(path, members)]
    shares = work_units.shares_of([file.stored_bytes for file in files], stripes)
    return [
        TextUnit(file, unit)
        for file, share in zip(files, shares, strict=True)
        for unit in _plan_file(file, share)
    ]


def line_bytes_of(paths: Sequence[str], stripes: int, members: Sequence[str] = MEMBERS) -> int:
    """Returns the number of bytes that the workers will read, as the total for the progress display.

    If a file cannot be split, such as a .gz, several workers may divide the work on it. Each of them reads
    the whole file, so the size of the file is counted once for each of these workers.

    Args:
      paths: the input files.
      stripes: number of workers.
      members: patterns that the names of the wanted files in an archive must match.
    """
    return sum(
        planned.unit.end - planned.unit.start for planned in plan_units(paths, stripes, members)
    )


def find_files(
    path: str, members: Sequence[str] = MEMBERS, *, must_be_whole: bool = False
) -> list[TextFile]:
    """Returns the wanted files in an archive that is complete and uncompressed.

    For any other file, returns a list of the file itself.

    Args:
      path: path of the archive or other file.
      members: patterns that the names of the wanted files in an archive must match.
      must_be_whole: True to raise an error for a truncated archive, and if a wanted file is a link or device.

    Raises InputError for a complete archive without a wanted file. If `must_be_whole` is False, other
    problems are reported only when the file is read.
    """
    file_bytes = file_bytes_of(path)
    itself = TextFile(path, "", 0, file_bytes)
    with open_raw(path) as stream:
        if codec_of(stream) or not work_units.is_archive(stream):
            return [itself]
        try:
            found = list(tar_members.read_members(stream, file_bytes))
        except TarError as error:
            if must_be_whole:
                raise InputError(path, error.message, error.offset) from None
            return [itself]
    wanted = [member for member in found if tar_members.is_named_like(member.name, members)]
    if not wanted:
        raise _no_member_error(path, members, [member.name for member in found])
    for found_instead, problem in tar_members.problems_of(wanted):
        if must_be_whole:
            raise InputError(path, problem, found_instead.start)
        return [itself]
    return [
        TextFile(path, member.name, member.start, member.bytes)
        for member in wanted
        if isinstance(member, Member)
    ]


def _plan_file(file: TextFile, stripes: int) -> list[FileUnit]:
    with open_raw(file.path) as stream:
        return work_units.plan_block_units(
            text_stream(stream, file), file.path, file.stored_bytes, stripes
        )


def text_stream(stream: BinaryIO, file: TextFile) -> BinaryIO:
    """Returns the stored bytes of a file, or of its member in an archive, as a stream."""
    if not file.member:
        return stream
    return tar_members.window_of(stream, file.start, file.stored_bytes)


def _read_unit(
    planned: TextUnit, on_corrupt: str, members: Sequence[str], block_bytes: int, limit: int = 0
) -> Iterator[bytes | beam.pvalue.TaggedOutput]:
    lines = 0
    for event in read_unit(planned, members, block_bytes):
        if isinstance(event, LineBlock):
            if limit:
                event = first_lines(event, limit - lines)
            kept, rejected = screen_block(planned.file, event)
            lines += count_lines(kept) + len(rejected)
            if kept:
                yield kept
            yield from (beam.pvalue.TaggedOutput("rejected", one) for one in rejected)
            if limit and lines == limit:
                break
        elif isinstance(event, Unterminated):
            yield beam.pvalue.TaggedOutput("unterminated", _name_of(planned.file, event.member))
        elif on_corrupt == "fail":
            raise _damage_error(planned, event)
        else:
            yield tell_lost(STAGE, LostBytes(_name_of(planned.file), *event))
    yield beam.pvalue.TaggedOutput("lines", lines)


def _read_first(
    paths: Sequence[str], on_corrupt: str, members: Sequence[str], block_bytes: int, limit: int
) -> Iterator[bytes | beam.pvalue.TaggedOutput]:
    """Reads the first lines of the input in one step, until the limit is reached."""
    left = limit
    for planned in plan_units(paths, 1, members):
        for found in _read_unit(planned, on_corrupt, members, block_bytes, left):
            if isinstance(found, beam.pvalue.TaggedOutput) and found.tag == "lines":
                left -= found.value
            yield found
        if not left:
            break


def first_lines(block: LineBlock, count: int) -> LineBlock:
    """Returns the first `count` lines of a block."""
    if block.is_overlong or count_lines(block.data) <= count:
        return block
    return block._replace(data=block_of(list(lines_of(block.data))[:count]))


def read_unit(
    planned: TextUnit, members: Sequence[str] = MEMBERS, block_bytes: int = BLOCK_BYTES
) -> Iterator[LineBlock | Unterminated | Damage]:
    """Yields the blocks of lines of a unit, unterminated last lines, and damage.

    Also counts the bytes read, to report progress. Raises InputError for an archive without a wanted file.

    Args:
      planned: the work unit to read.
      members: patterns that the names of the wanted files in an archive must match.
      block_bytes: maximum size of a block; a longer line is a block of its own.
    """
    file, unit = planned
    stored_bytes = 0
    with open_raw(file.path) as stream:
        try:
            for event in work_units.read_blocks(
                text_stream(stream, file), unit, members, block_bytes
            ):
                if isinstance(event, LineBlock):
                    counters.count(STAGE, "dump_bytes", event.stored_bytes)
                    counters.count(STAGE, "text_bytes", len(event.data))
                    stored_bytes += event.stored_bytes
                yield event
        except NoMemberError as error:
            raise _no_member_error(file.path, members, error.names) from None
    counters.count(STAGE, "dump_bytes", unit.end - unit.start - stored_bytes)
    counters.flush()


def screen_block(file: TextFile, block: LineBlock) -> tuple[bytes, list[Rejected]]:
    """Separates the lines of a block into kept and rejected lines. Counts both.

    Returns (kept lines as a block, rejected lines).
    """
    if block.is_overlong:
        kept, rejected = b"", [_reject(file, block, 0, block.data, "line-too-long")]
    elif malformed := malformed_lines(block.data):
        kept, rejected = _take_out(file, block, set(malformed))
    else:
        kept, rejected = block.data, []
    if kept:
        counters.count(STAGE, "lines", count_lines(kept))
    return kept, rejected


def _take_out(
    file: TextFile, block: LineBlock, malformed: set[int]
) -> tuple[bytes, list[Rejected]]:
    kept, rejected = [], []
    at = 0
    for number, line in enumerate(lines_of(block.data)):
        if number in malformed:
            rejected.append(_reject(file, block, at, line, "malformed-utf-8"))
        else:
            kept.append(line)
        at += len(line) + 1
    return block_of(kept) if kept else b"", rejected


def _reject(file: TextFile, block: LineBlock, at: int, line: bytes, reason: str) -> Rejected:
    counters.count(STAGE, reason)
    member, place = place_of(block, at)
    beginning = line[:_DETAIL_BYTES].decode("utf-8", "backslashreplace").encode()
    detail = beginning[:_DETAIL_BYTES].decode("utf-8", "ignore")
    return Rejected(f"{_name_of(file, member)}:{place}", "", STAGE, reason, detail)


def _name_of(file: TextFile, member: str = "") -> str:
    """Returns the name of a file without folders, followed by the path in the archive if it is in one."""
    name = posixpath.basename(file.path)
    member = member or file.member
    return f"{name}/{member}" if member else name


def _damage_error(planned: TextUnit, damage: Damage) -> InputError:
    file, unit = planned
    path = f"{file.path}/{file.member}" if file.member else file.path
    counted = {
        "whole": " (bytes of the uncompressed text)",
        "tar": " (bytes of the archive, decompressed)",
    }
    return damage_error(path, *damage, counted.get(unit.kind, ""))


def _no_member_error(path: str, members: Sequence[str], names: Sequence[str]) -> InputError:
    told = ", ".join([*names[:_TOLD_NAMES], *(["…"] if len(names) > _TOLD_NAMES else [])])
    wanted = " or ".join(members)
    return InputError(path, f"the archive has no file {wanted}; it contains {told or 'no files'}")


def read_head(path: str, stream: BinaryIO) -> bytes:
    """Returns the beginning of a file, decompressed. Raises InputError if it is damaged."""
    try:
        return read_some(decompressed(stream), HEAD_BYTES)
    except DECODE_ERRORS as error:
        raise InputError(path, f"cannot be decompressed: {error}", 0) from None


def check_end(path: str, stream: BinaryIO, codec: str, file_bytes: int) -> None:
    """Raises InputError if the end of a file shows that its compressed data is truncated.

    This can be seen in .bz2 and .xz files. All other files, such as .gz files, are accepted.
    """
    is_whole = codec != "bz2" or bz2_blocks.ends_whole(stream, file_bytes)
    if codec == "xz":
        stream.seek(max(file_bytes - HEAD_BYTES, 0))
        is_whole = stream.read(HEAD_BYTES).rstrip(b"\0").endswith(b"YZ")
    if not is_whole:
        problem = f"the file ends inside its {codec} data: it is truncated or still being written"
        raise InputError(path, problem, file_bytes)
