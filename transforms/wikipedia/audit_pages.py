"""Audits a sample of pages: compares the text of each page with the output of another wikitext parser.

The sample depends only on the ids of pages. For a page that is not in the sample, only a hash is computed.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import apache_beam as beam
import zstandard
from apache_beam.transforms.combiners import TopCombineFn

from corpusmill.transforms.files import counters
from corpusmill.transforms.files.fingerprint import fingerprint
from corpusmill.transforms.files.records import Article, Page, Rejected
from corpusmill.transforms.wikipedia.timed_calls import CallEndedError, CallTimeoutError, TimedCalls
from corpusmill.transforms.wikitext.audit.findings import NOTHING, AuditedPage, Comparison

if TYPE_CHECKING:
    from corpusmill.transforms.wikitext.audit.audit_page import AuditTask

STAGE = "audit-pages"
EMPTY = "empty-after-cleaning"  # the reason of the cleaner for a page without text
MAX_CHARACTERS = 1_000_000  # maximum characters of wikitext; longer pages are not audited
MAX_SECONDS = 60.0  # time limit for one page; most pages take a tenth of a second
_DUMP_BYTES = 20_000  # upper bound of the mean article size in dump files, compressed or not
_SPARE = 4  # number of candidate pages for each requested page
_HASHES = 1 << 63  # number of different hashes; Beam's integers are signed 64-bit
_MEDIA, _FILE, _CATEGORY = -2, 6, 14
_CANONICAL = ("file", "image", "media", "category")


@dataclass(eq=False, repr=False)
class AuditPages(beam.PTransform):
    """Audits a sample of pages.

    {"pages": PCollection[Page], "articles": PCollection[Article], "rejected": PCollection[Rejected]} →
    PCollection[AuditedPage]. Of the pages that the cleaner rejected, only those of which no text remained are
    audited, to find the lost text. The others are reported with the reason for the rejection.

    Args:
      size: number of pages in the sample. The pages whose ids have the smallest fingerprints are selected.
      dump_bytes: total size of the dump files. The number of pages is estimated from it. Most pages are
        skipped early, because their hashes are above a bound that depends on the estimate. If the pages of a
        dump are very long, there are fewer than estimated, and the sample may be smaller than `size`.
      namespaces: number → name in this wiki.
    """

    size: int
    dump_bytes: int
    namespaces: Mapping[int, Sequence[str]]

    def expand(self, of_wiki: Mapping[str, beam.PCollection]) -> beam.PCollection:
        wanted = _SPARE * self.size * _DUMP_BYTES / max(self.dump_bytes, 1)
        bound = int(_HASHES * min(wanted, 1.0))
        drawn = {
            name: records | f"Draw {name}" >> beam.FlatMap(draw, bound)
            for name, records in of_wiki.items()
        }
        smallest = (
            drawn["pages"]
            | "Hashes" >> beam.MapTuple(hash_of)
            | "Smallest" >> beam.CombineGlobally(TopCombineFn(self.size, reverse=True))
            | "Last" >> beam.Map(largest_of)
        )
        names = [
            name
            for number in (_MEDIA, _FILE, _CATEGORY)
            for name in self.namespaces.get(number, ())
        ]
        hidden = frozenset(name.casefold() for name in (*_CANONICAL, *names))
        audit = beam.ParDo(_Audit(hidden), beam.pvalue.AsSingleton(smallest))
        return drawn | "Join" >> beam.CoGroupByKey() | "Audit" >> audit


def hash_of(page_id: int, _: object = None) -> int:
    """Returns the hash of a page id, which determines whether the page is in the sample."""
    return fingerprint(f"audit:{page_id}") >> 1


def largest_of(hashes: Sequence[int]) -> int:
    """Returns the largest of the given hashes, or -1 if there are none."""
    return max(hashes, default=-1)


def draw(
    record: Page | Article | Rejected, bound: int
) -> Iterable[tuple[int, tuple[str, bytes | str]]]:
    """Yields the page of a record if it may be in the sample, that is, if the hash of its id is below
    `bound`.

    The result is (page id, (title, packed text)), or (page id, (title, reason)) for a rejected page. The text
    of a Page is wikitext; that of an Article is the cleaned text.
    """
    if isinstance(record, Rejected):
        if hash_of(int(record.id)) < bound:
            yield int(record.id), (record.title, record.reason)
    elif hash_of(record.page_id) < bound:
        packed = zstandard.ZstdCompressor(level=1).compress(record.text.encode("utf-8"))
        yield record.page_id, (record.title, packed)


@dataclass(eq=False)
class _Audit(beam.DoFn):
    hidden_namespaces: frozenset[str]

    def setup(self) -> None:
        # Imported here: a process that only builds the pipeline does not need the parser.
        from corpusmill.transforms.wikitext.audit.audit_page import audit_page

        self.calls = TimedCalls(audit_page, MAX_SECONDS)

    def teardown(self) -> None:
        self.calls.close()

    def process(
        self,
        joined: tuple[int, Mapping[str, Iterable[tuple[str, Any]]]],
        largest_hash: int,
    ) -> Iterable[AuditedPage]:
        from corpusmill.transforms.wikitext.audit.audit_page import AuditTask

        page_id, found = joined
        if hash_of(page_id) > largest_hash:
            return
        for title, packed in found["pages"]:
            wikitext = _unpack(packed)
            texts = [_unpack(one) for _, one in found["articles"]]
            reasons = [reason for _, reason in found["rejected"] if reason != EMPTY]
            if reasons:
                counters.count(STAGE, reasons[0])
                yield AuditedPage(page_id, title, reasons[0], NOTHING)
                continue
            task = AuditTask(wikitext, texts[0] if texts else "", self.hidden_namespaces)
            reason, comparison = self._compare(task)
            counters.count(STAGE, reason or "audited")
            yield AuditedPage(page_id, title, reason, comparison)

    def _compare(self, task: "AuditTask") -> tuple[str, Comparison]:
        if len(task.wikitext) > MAX_CHARACTERS:
            return "too-long", NOTHING
        try:
            return "", self.calls.call(task)
        except CallTimeoutError:
            return "too-slow", NOTHING
        except CallEndedError:
            return "parser-ended", NOTHING


def _unpack(packed: bytes) -> str:
    return zstandard.ZstdDecompressor().decompress(packed).decode("utf-8")
