"""Splits elements into kept and rejected. Each rejection is counted and has a reason."""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import apache_beam as beam

from corpusmill.transforms.files import counters
from corpusmill.transforms.files.records import Page, Reason, Rejected


class Screened(NamedTuple):
    """The outputs of a screening: kept elements and rejections. Each input element is in one of them."""

    kept: beam.PCollection
    rejected: beam.PCollection  # of Rejected


class KeepAll(beam.PTransform):
    """Keeps all elements. PCollection → Screened. It replaces a screening that is switched off."""

    def expand(self, elements: beam.PCollection) -> Screened:
        return Screened(elements, elements.pipeline | beam.Create([]))


class ScreenPages(beam.PTransform):
    """Applies a rule `reason_to_reject(page, *sides)` to each page. PCollection[Page] → Screened.

    The rule returns a Reason to reject the page, or None to keep it.

    Args:
      sides: side inputs for the rule.
      stage: name of this step of the build, which is recorded in each rejection.
      of: type of the elements. They must have the fields `page_id` and `title`.
    """

    STAGE = "screen-pages"

    def __init__(
        self,
        reason_to_reject: Callable[..., Reason | None],
        *sides: beam.pvalue.AsSideInput,
        stage: str = STAGE,
        of: Any = Page,
    ):
        super().__init__()
        self.reason_to_reject = reason_to_reject
        self.sides = sides
        self.stage = stage
        self.of = of

    def expand(self, pages: beam.PCollection) -> Screened:
        rule = _Screen(self.stage, self.reason_to_reject)
        screen = beam.ParDo(rule, *self.sides).with_output_types(self.of)
        split = pages | screen.with_outputs("rejected", main="kept")
        return Screened(split.kept, split.rejected)


class _Screen(beam.DoFn):
    def __init__(self, stage: str, reason_to_reject: Callable[..., Reason | None]):
        self.stage = stage
        self.reason_to_reject = reason_to_reject

    def process(self, page: Any, *sides: Any) -> Iterable[Any]:
        reason = self.reason_to_reject(page, *sides)
        if reason is None:
            yield page
        else:
            yield reject(page.page_id, page.title, self.stage, reason)


def reject(page_id: int, title: str, stage: str, reason: Reason) -> beam.pvalue.TaggedOutput:
    """Returns a rejection as an element of the output "rejected", and counts it under `<stage>/<reason>`."""
    counters.count(stage, reason.slug)
    rejected = Rejected(str(page_id), title, stage, reason.slug, reason.detail)
    return beam.pvalue.TaggedOutput("rejected", rejected)
