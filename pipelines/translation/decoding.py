"""Decodes the bytes of a file that a translator has returned."""

import codecs

from corpusmill.transforms.files.translation_records import ReadError

_UTF16 = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}


def decode_utf8(data: bytes) -> str:
    """Decodes UTF-8. A byte order mark is kept as part of the text.

    Raises ReadError with the line and the position of the wrong byte if the data is not UTF-8.
    """
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        byte = data[error.start]
        message = f"not UTF-8: {error.reason} (0x{byte:02x}), byte {error.start} of the file"
        raise ReadError(line, message) from error


def decode_sheet(data: bytes) -> str:
    """Decodes a table saved by a spreadsheet program, in UTF-8 or in UTF-16 with a byte order mark.

    The byte order mark is removed. Raises ReadError for other encodings. Code pages are never guessed,
    because a file does not say which one it uses.
    """
    encoding = _UTF16.get(data[:2])
    if encoding is None:
        return decode_utf8(data).removeprefix("\ufeff")
    try:
        return data[2:].decode(encoding)
    except UnicodeDecodeError as error:
        line = data[2 : 2 + error.start].decode(encoding, "replace").count("\n") + 1
        message = f"not UTF-16: {error.reason}, byte {2 + error.start} of the file"
        raise ReadError(line, message) from error
