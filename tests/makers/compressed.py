"""The ways that the sources of a corpus are compressed in."""

import bz2
import functools
import gzip
import lzma
from collections.abc import Callable

import zstandard

COMPRESS: dict[str, Callable[[bytes], bytes]] = {  # suffix → compresses a whole file
    "": bytes,
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": functools.partial(lzma.compress, preset=0),  # the default preset takes 94 MB of memory
    ".zst": zstandard.ZstdCompressor(write_checksum=True).compress,
}
