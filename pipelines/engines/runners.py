"""The names that `--runner` takes. Without Beam, which takes seconds to import."""

import difflib

IN_PROCESS = "in-process"
DIRECT = "DirectRunner"  # what everybody calls Beam's runner inside one process
SPARK = "SparkRunner"
DATAFLOW = "DataflowRunner"
PRISM = "PrismRunner"

RUNNERS = (
    *(IN_PROCESS, DIRECT, SPARK, DATAFLOW, "FlinkRunner", PRISM, "PortableRunner"),
    *("InteractiveRunner", "KafkaStreamsRunner", "FnApiRunner", "BundleBasedDirectRunner"),
    *("SwitchingDirectRunner", "TestDirectRunner", "TestDataflowRunner"),
)
"""in-process, and those that Beam has a name for."""

_SHOWN = 7  # the others are for notebooks and tests


def runner_named(name: str) -> str:
    """Return the runner of a name: DirectRunner is the in-process runner, and upper and lower case are one.

    A name with a dot is that of a class, which Beam looks for.

    Raises:
        ValueError: no runner has that name; the message has those that are known.
    """
    known = {runner.casefold(): runner for runner in RUNNERS}
    folded = name.casefold()
    runner = known.get(folded, name if "." in name else "")
    if not runner:
        near = difflib.get_close_matches(f"{folded.removesuffix('runner')}runner", known, 1)
        guess = f"did you mean {known[near[0]]}? Known" if near else "known"
        raise ValueError(
            f"no such runner: {name!r}; {guess} are {', '.join(RUNNERS[:_SHOWN])}, or a class by its module"
            " and name"
        )
    return IN_PROCESS if runner == DIRECT else runner
