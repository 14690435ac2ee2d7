"""Runs a few transforms in this process and gives what came out, with the counters."""

import collections
import itertools
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import apache_beam as beam
from apache_beam.metrics import MetricsFilter
from apache_beam.runners.portability.fn_api_runner import FnApiRunner

from corpusmill.pipelines.run.engines.beam_patches import Options, remember_signatures
from corpusmill.transforms.files.counters import NAMESPACE

remember_signatures()  # as builds do; it halves the time of a small pipeline
_runs = itertools.count()
_found: dict[tuple[int, str], list[Any]] = collections.defaultdict(list)


class Outcome(NamedTuple):
    """The result of a pipeline."""

    elements: dict[str, list[Any]]  # output → its elements, in no order
    counters: dict[str, int]


def run_pipeline(build: Callable[[beam.Pipeline], Any], workers: int = 0) -> Outcome:
    """Runs a pipeline and collects its outputs.

    Args:
      build: applies the transforms. It returns the outputs by name, as a NamedTuple, or one, "main".
      workers: threads that elements travel between through their coders; 0 is none.
    """
    run = next(_runs)
    flags = [f"--direct_num_workers={workers}", "--direct_running_mode=multi_threading"]
    pipeline = beam.Pipeline(runner=FnApiRunner(), options=Options(flags if workers else []))
    built = build(pipeline)
    built = built._asdict() if hasattr(built, "_asdict") else built
    outputs = built if isinstance(built, Mapping) else {"main": built}
    for name, collection in outputs.items():
        _ = collection | f"Collect {name}" >> beam.Map(_collect, run, name)
    result = pipeline.run()
    result.wait_until_finish()
    elements = {name: _found.pop((run, name), []) for name in outputs}
    counters = result.metrics().query(MetricsFilter().with_namespace(NAMESPACE))["counters"]
    sums: collections.Counter[str] = collections.Counter()
    for one in counters:  # one for each step that counts under the name
        sums[one.key.metric.name] += one.committed
    return Outcome(elements, dict(sums))


def run_transform(transform: beam.PTransform, elements: Iterable[Any], workers: int = 0) -> Outcome:
    """Applies a transform to elements. One that gives a NamedTuple has its fields as outputs."""
    given = beam.Create(list(elements), reshuffle=False)
    return run_pipeline(lambda root: root | given | transform, workers)


def run_inputs(apply: Callable[..., Any], workers: int = 0, **inputs: Iterable[Any]) -> Outcome:
    """Runs what a function makes of collections, whose elements are given by their names in it."""
    creates = {name: beam.Create(list(elements)) for name, elements in inputs.items()}
    return run_pipeline(
        lambda root: apply(**{name: root | name >> create for name, create in creates.items()}),
        workers,
    )


def _collect(element: Any, run: int, name: str) -> None:
    _found[run, name].append(element)
