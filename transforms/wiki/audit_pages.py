"""A sample of pages, audited: the text of each beside what another parser makes of its source.

The sample hangs on the ids of pages alone. Two pages of a hundred thousand cost what two pages cost: all
others are passed by, after one hash.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import apache_beam as beam
import zstandard
from apache_beam.transforms.combiners import TopCombineFn

from transforms.files import counters
from transforms.files.timed_calls import CallEndedError, CallTimeoutError, TimedCalls
from transforms.records import Article, Page, Rejected
from transforms.text.fingerprint import fingerprint
from transforms.text.wikimedia.audit.findings import NOTHING, AuditedPage, Comparison

if TYPE_CHECKING:
    from transforms.text.wikimedia.audit.audit_page import AuditTask

STAGE = "audit-pages"
EMPTY = "empty-after-cleaning"  # the reason of the cleaner for a page without text
MAX_CHARACTERS = 1_000_000  # of wikitext; a longer page is not audited
MAX_SECONDS = 60.0  # for one page; most take a tenth of one
_DUMP_BYTES = 20_000  # of an article in a dump, compressed or not: more than it has in any wiki
_SPARE = 4  # so many times the pages that are wanted are carried to where they are counted
_HASHES = 1 << 63  # Beam has no larger numbers
_MEDIA, _FILE, _CATEGORY = -2, 6, 14
_CANONICAL = ("file", "image", "media", "category")


@dataclass(eq=False, repr=False)
class AuditPages(beam.PTransform):
    """{"pages": PCollection[Page], "articles": PCollection[Article], "rejected":
    PCollection[Rejected]} → PCollection[AuditedPage].

    A page that was rejected by the cleaner is not audited, with that reason; but one of which nothing was
    left is: what it has lost is looked for.

    Args:
      size: how many pages, those with the smallest fingerprints of their ids.
      dump_bytes: of all files of the dump, which show how many pages there may be: most are passed by
        before it is known which are the smallest. Of a dump of very long pages fewer are left than wanted.
      namespaces: number → names in this wiki.
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
    """The number that decides whether a page is in the sample."""
    return fingerprint(f"audit:{page_id}") >> 1


def largest_of(hashes: Sequence[int]) -> int:
    """-1 for none."""
    return max(hashes, default=-1)


def draw(
    record: Page | Article | Rejected, bound: int
) -> Iterable[tuple[int, tuple[str, bytes | str]]]:
    """(page id, (title, packed text or reason)) where the hash of the id is below the bound."""
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
        # Not above: what only builds a pipeline needs no parser.
        from transforms.text.wikimedia.audit.audit_page import audit_page

        self.calls = TimedCalls(audit_page, MAX_SECONDS)

    def teardown(self) -> None:
        self.calls.close()

    def process(
        self,
        joined: tuple[int, Mapping[str, Iterable[tuple[str, Any]]]],
        largest_hash: int,
    ) -> Iterable[AuditedPage]:
        from transforms.text.wikimedia.audit.audit_page import AuditTask

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
