"""Writes metrics in the text format of Prometheus, for the textfile collector of the node exporter."""

import pathlib
from collections.abc import Iterator, Mapping
from typing import NamedTuple, TypeVar

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, InfoMetricFamily, Metric
from prometheus_client.registry import Collector

from corpusmill.pipelines.refresh.state import CorpusState
from corpusmill.transforms.files.safe_files import write_whole
from corpusmill.transforms.files.stores import is_local

PREFIX = "corpusmill_refresh"
_Family = TypeVar("_Family", GaugeMetricFamily, CounterMetricFamily, InfoMetricFamily)

_TIMES = {
    "last_run": "When the corpus was last refreshed, with or without success.",
    "last_success": "When a refresh of the corpus last succeeded, with or without a new edition.",
    "last_failure": "When a refresh of the corpus last failed.",
    "last_published": "When an edition last became the current one.",
}


class RunMetrics(NamedTuple):
    """Metrics about a whole run, for all corpora together."""

    end: float  # seconds since 1970
    seconds: float
    status: int  # exit status; 0 for success


def write_metrics(path: str, run: RunMetrics, states: Mapping[str, CorpusState]) -> None:
    """Writes metrics to the file `path`, which is replaced as a whole.

    If this fails, raises OSError and leaves the old file unchanged.

    Args:
      path: path of the file.
      run: metrics about the whole run.
      states: name of a corpus → its state, from which the metrics about the corpus are made.
    """
    registry = CollectorRegistry()
    registry.register(_States(run, states))
    if is_local(path):
        pathlib.Path(path).parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, generate_latest(registry))


class _States(Collector):
    """Gives the metrics about a run, and the state of each corpus, to the Prometheus library."""

    def __init__(self, run: RunMetrics, states: Mapping[str, CorpusState]):
        self._run, self._states = run, states

    def collect(self) -> Iterator[Metric]:
        """Yields the metrics. The Prometheus library calls this method."""
        run = self._run
        for name, value, about in (
            ("run_end_timestamp_seconds", run.end, "When the last run ended."),
            ("run_duration_seconds", run.seconds, "How long the last run took."),
            ("run_exit_status", run.status, "Exit status of the last run, 0 for success."),
        ):
            yield GaugeMetricFamily(f"{PREFIX}_{name}", about, value=value)
        for field, about in _TIMES.items():
            times = _family(GaugeMetricFamily, f"{field}_timestamp_seconds", about)
            for label, state in self._states.items():
                if getattr(state, field):  # the time 0 means never
                    times.add_metric([label], getattr(state, field))
            yield times
        about = "Whether the last refresh of the corpus failed."
        failed = _family(GaugeMetricFamily, "failed", about)
        failures = _family(CounterMetricFamily, "failures", "Refreshes of the corpus that failed.")
        about = "Bytes downloaded for the corpus."
        fetched = _family(CounterMetricFamily, "downloaded_bytes", about)
        about = "How long a step took when it was last done."
        seconds = _family(GaugeMetricFamily, "step_duration_seconds", about, "step")
        about = "Documents of the edition that was last compared with the one before it."
        documents = _family(GaugeMetricFamily, "documents", about, "edition", "change")
        info = _family(InfoMetricFamily, "edition", "The current edition.")
        for label, state in self._states.items():
            failed.add_metric([label], int(bool(state.error)))
            failures.add_metric([label], state.failures)
            fetched.add_metric([label], state.downloaded_bytes)
            for step, value in sorted(state.seconds.items()):
                seconds.add_metric([label, step], value)
            for change, count in sorted(state.documents.items()):
                documents.add_metric([label, state.compared, change], count)
            if state.current:
                edition = {"edition": state.current, "signature": state.signature}
                info.add_metric([label], {**edition, "folder": state.edition_folder})
        yield from (failed, failures, fetched, seconds, documents, info)


def _family(kind: type[_Family], name: str, about: str, *labels: str) -> _Family:
    """Creates an empty metric family of the Prometheus library. Its first label is the name of the corpus.

    Args:
      kind: The class of the family.
      name: The name of the family, without PREFIX.
      about: The description of the family.
      labels: The names of more labels.
    """
    return kind(f"{PREFIX}_{name}", about, labels=["name", *labels])
