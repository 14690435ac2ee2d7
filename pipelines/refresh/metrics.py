"""What monitoring reads: a file in Prometheus' text format, for the node exporter's textfile collector."""

import pathlib
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from prometheus_client import CollectorRegistry, write_to_textfile
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, InfoMetricFamily, Metric
from prometheus_client.registry import Collector

from pipelines.refresh.state import CorpusState

PREFIX = "corpusmill_refresh"

_TIMES = {
    "last_run": "When the corpus was last refreshed, with or without success.",
    "last_success": "When the corpus was last found or made as new as its sources.",
    "last_failure": "When a refresh of the corpus last failed.",
    "last_published": "When an edition last became the current one.",
}


class RunMetrics(NamedTuple):
    """Of the whole run."""

    end: float  # seconds since 1970
    seconds: float
    status: int  # exit status: 0 all is well


def write_metrics(path: str, run: RunMetrics, states: Mapping[str, CorpusState]) -> None:
    """Replaces the file. Raises OSError; then it is what it was.

    Args:
      states: label of the corpus → what is known of it.
    """
    registry = CollectorRegistry()
    registry.register(_States(run, states))
    pathlib.Path(path).parent.mkdir(parents=True, exist_ok=True)
    write_to_textfile(path, registry)


class _States(Collector):
    """Values that are known already; the library only writes them down."""

    def __init__(self, run: RunMetrics, states: Mapping[str, CorpusState]):
        self._run, self._states = run, states

    def collect(self) -> Iterator[Metric]:
        """As the library asks for them."""
        run = self._run
        for name, value, about in (
            ("run_end_timestamp_seconds", run.end, "When the last run ended."),
            ("run_duration_seconds", run.seconds, "How long the last run took."),
            ("run_exit_status", run.status, "Exit status of the last run, 0 for success."),
        ):
            yield GaugeMetricFamily(f"{PREFIX}_{name}", about, value=value)
        yield from self._of_corpora()

    def _of_corpora(self) -> Iterator[Metric]:
        for field, about in _TIMES.items():
            times = GaugeMetricFamily(f"{PREFIX}_{field}_timestamp_seconds", about, labels=["name"])
            for label, state in self._states.items():
                if getattr(state, field):  # "never" is no time
                    times.add_metric([label], getattr(state, field))
            yield times
        failed = GaugeMetricFamily(
            f"{PREFIX}_failed", "Whether the last refresh of the corpus failed.", labels=["name"]
        )
        failures = CounterMetricFamily(
            f"{PREFIX}_failures", "Refreshes of the corpus that failed.", labels=["name"]
        )
        fetched = CounterMetricFamily(
            f"{PREFIX}_downloaded_bytes", "Bytes downloaded for the corpus.", labels=["name"]
        )
        for label, state in self._states.items():
            failed.add_metric([label], int(bool(state.error)))
            failures.add_metric([label], state.failures)
            fetched.add_metric([label], state.downloaded_bytes)
        yield from (failed, failures, fetched, *self._of_editions())

    def _of_editions(self) -> Iterator[Metric]:
        seconds = GaugeMetricFamily(
            f"{PREFIX}_step_duration_seconds",
            "How long a step took when it was last done.",
            labels=["name", "step"],
        )
        documents = GaugeMetricFamily(
            f"{PREFIX}_documents",
            "Documents of the edition that was last compared with the one before it.",
            labels=["name", "edition", "change"],
        )
        info = InfoMetricFamily(f"{PREFIX}_edition", "The current edition.", labels=["name"])
        for label, state in self._states.items():
            for step, value in sorted(state.seconds.items()):
                seconds.add_metric([label, step], value)
            for change, count in sorted(state.documents.items()):
                documents.add_metric([label, state.compared, change], count)
            if state.current:
                edition = {"edition": state.current, "signature": state.signature}
                info.add_metric([label], {**edition, "folder": state.edition_folder})
        yield from (seconds, documents, info)
