"""Names of the runners that `--runner` accepts.

This module does not import Beam, because that takes seconds.
"""

import difflib

IN_PROCESS = "in-process"
DIRECT = "DirectRunner"  # the usual name of Beam's in-process runner
SPARK = "SparkRunner"
DATAFLOW = "DataflowRunner"
PRISM = "PrismRunner"

RUNNERS = (
    *(IN_PROCESS, DIRECT, SPARK, DATAFLOW, "FlinkRunner", PRISM, "PortableRunner"),
    *("InteractiveRunner", "KafkaStreamsRunner", "FnApiRunner", "BundleBasedDirectRunner"),
    *("SwitchingDirectRunner", "TestDirectRunner", "TestDataflowRunner"),
)
"""The names of the in-process runner and of all runners that Beam finds by name."""

_SHOWN = 7  # number of names in messages; the other runners are for notebooks and tests


def runner_named(name: str) -> str:
    """Returns the canonical name of a runner. Case is ignored, and DirectRunner means the in-process runner.

    A name with a dot is the name of a class, which Beam imports. Raises ValueError, which lists the known
    names, if there is no such runner.
    """
    known = {runner.casefold(): runner for runner in RUNNERS}
    folded = name.casefold()
    runner = known.get(folded, name if "." in name else "")
    if not runner:
        near = difflib.get_close_matches(f"{folded.removesuffix('runner')}runner", known, 1)
        guess = f"did you mean {known[near[0]]}? Known:" if near else "known:"
        raise ValueError(
            f"no such runner: {name!r}; {guess} {', '.join(RUNNERS[:_SHOWN])}, or the full name of a class"
        )
    return IN_PROCESS if runner == DIRECT else runner
