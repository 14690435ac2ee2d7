"""Estimates the amount of text in compressed files from the beginnings of some of the files."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from corpusmill.transforms.files.compression import DECODE_ERRORS, codec_of, decompress
from corpusmill.transforms.files.open_input import open_raw

FILES = 8
TEXT_BYTES = 4 << 20  # bytes to read from each file: several blocks of bzip2
_STEP_BYTES = 1 << 18
_PAGE = re.compile(rb"<page>.*?</page>", re.DOTALL)
_ARTICLE = b"<ns>0</ns>"


class TextSample(NamedTuple):
    """Estimates from the beginnings of some files: how much decompression expands them, and article sizes."""

    expansion: float = 1.0  # bytes of text per stored byte
    articles_share: float = 1.0  # share of namespace 0 in the bytes of the pages of a wiki
    article_bytes: float = 0.0  # mean size of a page of namespace 0 as XML; 0 if there is none


def codec_at(path: str) -> str:
    """Returns the codec of a file, detected from its first bytes: one of CODECS, or "" if uncompressed."""
    with open_raw(path) as stream:
        return codec_of(stream)


def sample_texts(paths: Sequence[str]) -> TextSample:
    """Estimates the amount of text from the beginnings of at most FILES files.

    These files are evenly spread over the list. All files in the list must have the same compression.
    """
    step = max(len(paths) // FILES, 1)
    heads = [read_beginning(path) for path in paths[::step][:FILES]]
    stored, text = (
        sum(sizes) for sizes in zip(*((n, len(head)) for n, head in heads), strict=True)
    )
    pages = [page for _, head in heads for page in _PAGE.findall(head)]
    articles = [len(page) for page in pages if _ARTICLE in page]
    return TextSample(
        expansion=text / max(stored, 1) if text else 1.0,
        articles_share=sum(articles) / max(sum(map(len, pages)), 1) if pages else 1.0,
        article_bytes=sum(articles) / max(len(articles), 1),
    )


def read_beginning(path: str) -> tuple[int, bytes]:
    """Reads the beginning of a file. Returns (number of stored bytes read, decompressed content).

    If the file is damaged, the content ends at the damage.
    """
    text = bytearray()
    with open_raw(path) as stream:
        content = decompress(stream, codec_of(stream))
        try:
            while len(text) < TEXT_BYTES and (data := content.read(_STEP_BYTES)):
                text += data
        except DECODE_ERRORS:
            pass  # the build reports the damage
        return stream.tell(), bytes(text)
