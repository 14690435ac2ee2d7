"""Reads the rows of one table from an SQL dump that was written by mysqldump or mariadb-dump.

The format is described in the MySQL reference manual, chapters "String Literals", "Hexadecimal Literals",
"Comments" and "INSERT Statement". Wikimedia's dumps of 2014 to 2025 were examined as well. A dump
is read in pieces. A regular expression, which depends on the columns of the table, finds the rows in a piece.
"""

import functools
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from ..files.compression import DamageError

_PIECE_BYTES = 1 << 14
"""Number of bytes that are searched at once. A piece has few rows, which keeps the garbage collector fast."""

MAX_ROW_BYTES = 1 << 26
"""Maximum length of a row, string or comment.

If one is longer, a quotation mark was probably never closed.
"""

Row = tuple[bytes | None, ...]


class SqlDumpError(DamageError):
    """Raised if the input is not a dump of the expected table.

    `offset` is the byte of the error, counted from the start of the decompressed dump.
    """


def read_rows(
    chunks: Iterable[bytes], table: str, columns: Sequence[str]
) -> Iterator[tuple[bytes | None, ...]]:
    """Yields the rows that a dump inserts into a table.

    A row consists of the values of `columns`, in the given order. Values are bytes. Strings have no quotes
    and escapes, and are in the encoding of the dump (Wikimedia uses UTF-8). Numbers are digits. Hexadecimal
    literals are the bytes that they represent. NULL is None.

    The positions of the columns are taken from the CREATE TABLE statement or from the column list of each
    INSERT. A table without INSERT has no rows. The function needs memory for about two chunks or two rows,
    whichever is larger.

    Args:
      chunks: the bytes of the dump, divided at any position.
      table: the name of the table.
      columns: the names of the requested columns.

    Raises:
      SqlDumpError: the dump does not have the table or a column, is truncated inside a statement, or is not
        SQL. A dump that is truncated between two statements looks like a complete one.
      ValueError: `columns` is empty.
    """
    if not columns:
        raise ValueError("columns must not be empty")
    buffer = _Buffer(chunks)
    tables: dict[str, tuple[str, ...]] = {}
    while (start := buffer.next_token()) is not None:
        statement = start.text.upper()
        if statement == b";":  # behind a conditional comment, "/*!40101 SET NAMES utf8 */;"
            continue
        if statement in (b"INSERT", b"REPLACE"):
            name, listed = _read_insert_head(buffer)
            there = listed or tables.get(name, ())
            tables.setdefault(name, there)
            if name == table:
                _check_columns(columns, there, start.offset)
                patterns = _row_patterns(table, there, bool(listed), tuple(columns))
                yield from _read_values(buffer, patterns)
                continue
        elif statement == b"CREATE":
            created = _read_create_table(buffer)
            tables |= created
            if table in created:
                _check_columns(columns, created[table], start.offset)
        elif statement not in _OTHER_STATEMENTS:
            raise buffer.error_at(start, _describe_garbage(start.text))
        buffer.skip_statement(start.offset)
    if table not in tables:
        there_are = ", ".join(sorted(tables)) or "none"
        raise SqlDumpError(f"no table {table}; tables in the dump: {there_are}", buffer.offset)


# --- Parts of statements ------------------------------------------------------------------------

# Every dump tool writes \x00 as \0, so \x00 is not needed in the character class. It is there for speed: `re`
# tests a class of two members one by one, but a class of three members with a bit table.
_STRING = rb"'[^'\\\x00]*+(?:(?:\\.|''|\x00)[^'\\\x00]*+)*+'"
_CUT_STRING = rb"'(?:[^'\\]++|\\.|'')*+\\?+"
_COMMENT = rb"(?:(?:--(?=\s)|\#)[^\n]*+\n|/\*.*?\*/)"
_CUT_COMMENT = rb"(?:-|/|--|(?:--(?=\s)|\#)[^\n]*+|/\*(?:(?!\*/).)*+)"
_BLANK = rb"(?:\s++|" + _COMMENT + rb")*+"
_BLANK_RUN = re.compile(_BLANK, re.DOTALL)
# The most frequent values first, for speed: text, then a plain number.
_VALUE = (
    rb"(?:" + _STRING + rb"|[0-9]++|(?i:NULL)|0x[0-9A-Fa-f]++"
    rb"|[-+]?+(?:[0-9]++(?:\.[0-9]*+)?+|\.[0-9]++)(?:[eE][-+]?+[0-9]++)?+"
    rb"|(?:_\w++\s*+|[xXbB])" + _STRING + rb")"
)

_TOKEN = re.compile(
    rb"(?P<blank>\s++|(?:--(?=\s|\Z)|\#)[^\n]*+(?:\n|\Z)|/\*.*?\*/)"
    rb"|(?P<name>`(?:[^`]|``)++`|\"(?:[^\"\\]|\\.|\"\")++\")"
    rb"|(?P<string>" + _STRING + rb")"
    rb"|(?P<word>[\w$]++)"
    rb"|(?P<mark>(?!/\*)[^\s'\"`])",
    re.DOTALL,
)
_NO_SEMICOLON = re.compile(
    rb"(?:[^-'\"`;/\#]++|" + _STRING + rb"|\"(?:[^\"\\]++|\\.)*+\"|`[^`]*+`|" + _COMMENT + rb""
    rb"|-(?=[^-])|--(?=\S)|/(?=[^*]))++",
    re.DOTALL,
)
# The possible ends of a piece after its last complete row: the beginning of a row or of a comment.
_CUT_ROW = re.compile(
    _BLANK
    + rb"(?:\((?:[^'()]++|" + _STRING + rb")*+(?:" + _CUT_STRING + rb"|\)" + _BLANK + rb")?+)?+"
    + _CUT_COMMENT + rb"?\Z",
    re.DOTALL,
)  # fmt: skip

_OTHER_STATEMENTS = frozenset(
    b"ALTER ANALYZE BEGIN CHANGE COMMIT DELETE DROP FLUSH GRANT LOCK ROLLBACK SELECT SET START"
    b" TRUNCATE UNLOCK UPDATE USE".split()
)
_CREATE_MODIFIERS = frozenset(b"IF NOT EXISTS".split())
_INSERT_MODIFIERS = frozenset(b"DELAYED HIGH_PRIORITY IGNORE INTO LOW_PRIORITY".split())
_NOT_A_COLUMN = frozenset(
    b"CHECK CONSTRAINT FOREIGN FULLTEXT INDEX KEY PERIOD PRIMARY SPATIAL UNIQUE".split()
)


class _Token(NamedTuple):
    kind: str  # "name" (quoted), "string", "word" or "mark"
    text: bytes
    offset: int  # bytes from the start of the dump

    @property
    def name(self) -> str:
        """Returns the identifier in the token, without quotes."""
        text = self.text
        if self.kind == "name":
            quote = text[:1]
            text = text[1:-1].replace(quote + quote, quote)
        return text.decode(errors="replace")


class _Buffer:
    """The part of a dump that is in memory. The bytes of `data` from `position` on have not been read yet."""

    def __init__(self, chunks: Iterable[bytes]):
        self._pieces = (
            chunk[start : start + _PIECE_BYTES]
            for chunk in chunks
            for start in range(0, len(chunk), _PIECE_BYTES)
        )
        self._dropped = 0
        self._ended = False
        self.data = b""
        self.position = 0

    @property
    def offset(self) -> int:
        return self._dropped + self.position

    def grow(self) -> bool:
        """Reads more chunks until the unread part has doubled. Returns False at the end of the dump.

        Doubling keeps the time linear if the unread part is searched again after each growth.
        """
        unread = self.data[self.position :]
        if len(unread) > MAX_ROW_BYTES:
            raise SqlDumpError(
                f"a row, string or comment here does not end within {len(unread)} bytes",
                self.offset,
            )
        parts, missing = [unread], max(len(unread), 1)
        for piece in self._pieces:
            parts.append(piece)
            missing -= len(piece)
            if missing <= 0:
                break
        else:
            self._ended = True
        self._dropped += self.position
        self.data, self.position = b"".join(parts), 0
        return len(self.data) > len(unread)

    def is_read_up(self) -> bool:
        return self._ended and self.position == len(self.data)

    def next_token(self) -> _Token | None:
        """Returns the next token, or None at the end of the dump. White space and comments are skipped."""
        while True:
            match = _TOKEN.match(self.data, self.position)
            # A token at the end of the data in memory may continue in data not yet read.
            if (match is None or match.end() == len(self.data)) and not self._ended:
                self.grow()
                continue
            if match is None:
                if self.is_read_up():
                    return None
                raise SqlDumpError(
                    "the dump is truncated inside a comment or a quoted text", self.offset
                )
            offset, self.position = self.offset, match.end()
            if match.lastgroup != "blank":
                return _Token(str(match.lastgroup), match.group(), offset)

    def expect_token(self) -> _Token:
        if (token := self.next_token()) is None:
            raise SqlDumpError(_CUT, self.offset)
        return token

    def error_at(self, token: _Token, message: str) -> SqlDumpError:
        """Returns an error at the position of `token`, which must be the token read last.

        If the token is a word at the end of the dump, the message says that the dump may be truncated.
        """
        is_cut = token.kind == "word" and self.is_read_up()
        return SqlDumpError(_CUT if is_cut else message, token.offset)

    def put_back(self, token: _Token) -> None:
        """Moves back by one token, so that `token` is read again."""
        self.position -= len(token.text)

    def skip_statement(self, start: int) -> None:
        """Skips everything up to the next semicolon that is not quoted.

        `start` is the offset of the statement, for error messages.
        """
        while True:
            if (match := _NO_SEMICOLON.match(self.data, self.position)) is not None:
                self.position = match.end()
            if self.data.startswith(b";", self.position):
                self.position += 1
                return
            if not self.grow():
                raise SqlDumpError(_CUT, start)


_CUT = "the dump is truncated inside a statement; download it again"


def _describe_garbage(text: bytes) -> str:
    if text == b"<":
        return "expected SQL, found HTML or XML"
    return f"expected an SQL statement, found {text[:40].decode(errors='backslashreplace')!r}"


# --- Heads of statements ------------------------------------------------------------------------


def _read_table_name(buffer: _Buffer, modifiers: frozenset[bytes]) -> str:
    """Reads the name of a table. Returns it without the name of the database, if there is one.

    `modifiers` are the words that may come before the name, such as IF NOT EXISTS.
    """
    while (token := buffer.expect_token()).text.upper() in modifiers:
        pass
    name = token.name
    while (token := buffer.expect_token()).text == b".":
        name = buffer.expect_token().name
    buffer.put_back(token)
    return name


def _read_create_table(buffer: _Buffer) -> dict[str, tuple[str, ...]]:
    """Reads a CREATE statement up to its `;`.

    Returns the name of the table that CREATE TABLE defines → its columns, or {} for any other CREATE
    statement.
    """
    token = buffer.expect_token()
    if token.text.upper() != b"TABLE":
        buffer.put_back(token)
        return {}
    table = _read_table_name(buffer, _CREATE_MODIFIERS)
    token = buffer.expect_token()
    if token.text != b"(":
        buffer.put_back(token)
        return {table: ()}
    columns, depth, is_first = [], 1, True
    while depth:
        token = buffer.expect_token()
        if token.text in (b"(", b")"):
            depth += 1 if token.text == b"(" else -1
        elif is_first and (token.kind == "name" or token.text.upper() not in _NOT_A_COLUMN):
            columns.append(token.name)
        is_first = depth == 1 and token.text == b","
    return {table: tuple(columns)}


def _read_insert_head(buffer: _Buffer) -> tuple[str, tuple[str, ...]]:
    """Reads an INSERT statement up to VALUES. Returns the name of its table, and its list of columns.

    The list is empty if the statement does not name the columns.
    """
    table = _read_table_name(buffer, _INSERT_MODIFIERS)
    columns = []
    token = buffer.expect_token()
    if token.text == b"(":
        while (token := buffer.expect_token()).text != b")":
            if token.kind in ("name", "word"):
                columns.append(token.name)
        token = buffer.expect_token()
    if token.text.upper() not in (b"VALUES", b"VALUE"):
        raise buffer.error_at(token, f"INSERT INTO {table} without VALUES")
    return table, tuple(columns)


def _check_columns(asked: Sequence[str], there: Sequence[str], offset: int) -> None:
    if missing := [column for column in asked if column not in there]:
        raise SqlDumpError(
            f"no column {', '.join(missing)}; columns in the table: {', '.join(there) or 'none'}",
            offset,
        )


# --- Rows ---------------------------------------------------------------------------------------


class _RowPatterns(NamedTuple):
    """Regular expressions that match the rows of one table.

    Their groups match the values of the requested columns, in the order of the table's columns.
    """

    followed: re.Pattern[bytes]  # a row before another row; last group: all the rest
    last: re.Pattern[bytes]  # a row and the semicolon
    order: tuple[int, ...]  # number of the group of each requested column
    columns: int  # number of values in a row


@functools.lru_cache(maxsize=16)
def _row_patterns(
    table: str, there: tuple[str, ...], is_listed: bool, asked: tuple[str, ...]
) -> _RowPatterns:
    values = (rb"(" + _VALUE + rb")" if column in asked else _VALUE for column in there)
    row = _BLANK + rb"\(\s*+" + rb"\s*+,\s*+".join(values) + rb"\s*+\)" + _BLANK
    # Dumps with one row in each statement repeat the head; it is treated as a separator of two rows.
    names = rb"`,\s?`".join(re.escape(column.encode()) for column in there)
    head = rb"INSERT INTO `" + re.escape(table.encode()) + rb"` "
    head += rb"\(`" + names + rb"`\) VALUES" if is_listed else rb"VALUES"
    groups = [column for column in there if column in asked]
    return _RowPatterns(
        followed=re.compile(row + rb"(?:,|;\s*+" + head + rb"\b)|(.++)", re.DOTALL),
        last=re.compile(row + rb";", re.DOTALL),
        order=tuple(groups.index(column) for column in asked),
        columns=len(there),
    )


def _read_values(buffer: _Buffer, patterns: _RowPatterns) -> Iterator[Row]:
    """Reads an INSERT statement from VALUES to its semicolon. Yields its rows."""
    while True:
        found = patterns.followed.findall(buffer.data, buffer.position)
        rest = found.pop()[-1] if found and found[-1][-1] else b""
        buffer.position = len(buffer.data) - len(rest)
        if found:
            yield from _decode_rows(found, patterns.order)
        if (last := patterns.last.match(buffer.data, buffer.position)) is not None:
            buffer.position = last.end()
            yield from _decode_rows([last.groups()], patterns.order)
            return
        blank = _BLANK_RUN.match(buffer.data, buffer.position)
        buffer.position = blank.end() if blank else buffer.position
        if _CUT_ROW.match(buffer.data, buffer.position) is None:
            raise SqlDumpError(f"expected a row of {patterns.columns} values", buffer.offset)
        if not buffer.grow():
            raise SqlDumpError(_CUT, buffer.offset)


def _decode_rows(rows: Sequence[tuple[bytes, ...]], order: Sequence[int]) -> Iterator[Row]:
    literals = list(zip(*rows, strict=True))
    return zip(*(_decode_column(literals[group]) for group in order), strict=True)


def _decode_column(literals: Sequence[bytes]) -> Sequence[bytes | None]:
    """Decodes the SQL literals of a column.

    Most columns are decoded as a whole, which is faster than one literal at a time.
    """
    text = b",".join(literals)
    if not text.translate(None, b"0123456789,"):
        return literals
    return _decode_strings(text, len(literals)) or [_decode(literal) for literal in literals]


def _decode_strings(text: bytes, count: int) -> list[bytes] | None:
    """Decodes `count` quoted strings that are joined by commas.

    Returns None if `text` contains NULL, doubled quotes or rare escapes. Then each string must be decoded by
    itself.
    """
    has_escapes = b"\\" in text
    if has_escapes:
        if any(spare in text for spare in _SPARE_BYTES):
            return None
        text = text.replace(rb"\\", _BACKSLASH).replace(rb"\'", _QUOTE).replace(rb"\"", b'"')
    if b"\\" in text or text.count(b"'") != 2 * count or not text.startswith(b"'"):
        return None  # other escapes, NULL, a doubled quote
    text = text[1:-1]
    if has_escapes:
        text = text.replace(b"','", _BORDER).replace(_QUOTE, b"'").replace(_BACKSLASH, b"\\")
    values = text.split(_BORDER if has_escapes else b"','")
    return values if len(values) == count else None


# Bytes that UTF-8 never uses. They replace escapes, so that no quotation mark looks like a border of strings.
_SPARE_BYTES = _BORDER, _QUOTE, _BACKSLASH = b"\xfd", b"\xfe", b"\xff"


def _decode(literal: bytes) -> bytes | None:
    prefix, quote, body = literal.partition(b"'")
    if not quote:
        if literal.startswith(b"0x"):
            return _from_hex(literal[2:])
        return None if literal.upper() == b"NULL" else literal
    body = body[:-1]
    if prefix in (b"x", b"X"):
        return _from_hex(body)
    if prefix in (b"b", b"B"):
        return b"%d" % int(body or b"0", 2)
    if b"\\" in body or b"'" in body:
        return _ESCAPE.sub(lambda escape: _ESCAPED.get(escape[0], escape[0][1:]), body)
    return body


def _from_hex(digits: bytes) -> bytes:
    return bytes.fromhex("0" * (len(digits) % 2) + digits.decode())


_ESCAPE = re.compile(rb"\\.|''", re.DOTALL)
# Every other escaped character is the character itself; only \% and \_ keep their backslash outside of
# LIKE.
_ESCAPED = {
    rb"\0": b"\0", rb"\b": b"\b", rb"\n": b"\n", rb"\r": b"\r", rb"\t": b"\t", rb"\Z": b"\x1a",
    rb"\%": rb"\%", rb"\_": rb"\_",
}  # fmt: skip
