"""The sample of news, and the lines that benchmarks recombine."""

import bz2
import gzip
import lzma
import tarfile

from tests.makers.news_lines import YEARS, sample_lines
from tests.tools.pack_samples import NEWS_ARCHIVE, SAMPLES

NEWS = SAMPLES / "news"
LINES = sample_lines(NEWS)


def packed_texts() -> dict[str, bytes]:
    """Name → text of every file of the sample, and of every member of its archive."""
    with tarfile.open(NEWS / NEWS_ARCHIVE) as archive:
        members = {member.name: archive.extractfile(member).read() for member in archive}  # type: ignore[union-attr]
    name = "news.{}.en.shuffled"
    return members | {
        name.format(2007): gzip.decompress((NEWS / "news.2007.en.shuffled.gz").read_bytes()),
        name.format(2008): bz2.decompress((NEWS / "news.2008.en.shuffled.bz2").read_bytes()),
        name.format(2009): lzma.decompress((NEWS / "news.2009.en.shuffled.xz").read_bytes()),
        name.format(2010): (NEWS / "news.2010.en.shuffled").read_bytes(),
    }


def test_the_packed_files_hold_the_lines() -> None:
    texts = packed_texts()
    german = texts.pop("training-monolingual/news.2011.de.shuffled")
    assert german.decode().count("\n") == 3
    texts["news.2011.en.shuffled"] = texts.pop("training-monolingual/news.2011.en.shuffled")
    expected = {
        f"news.{year}.en.shuffled": b"".join(line + b"\n" for line in LINES[year]) for year in YEARS
    }
    assert texts == expected
