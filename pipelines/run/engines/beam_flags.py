"""Checks the flags that are passed on to Beam."""

from collections.abc import Callable, Sequence

from corpusmill.transforms.files.runners import DATAFLOW


def check_runner_flags(runner: str, flags: Sequence[str]) -> None:
    """Raises ValueError if a runner cannot start a job with the flags. Only the flags of Dataflow are
    checked.

    The flags are checked before inputs are looked up in object stores, because without a network the look-up
    takes minutes.
    """
    if runner != DATAFLOW:
        return
    from apache_beam.options.pipeline_options import PipelineOptions

    from corpusmill.pipelines.run.engines.dataflow_flags import check_flags

    check_flags(PipelineOptions(list(flags)))


def check_beam_flags(flags: Sequence[str], guess: Callable[[str], str] = lambda _: "") -> None:
    """Raises ValueError for flags that Beam does not define, such as misspelled ones, and for arguments that
    belong to no flag.

    Args:
      flags: Flags as on the command line.
      guess: Function (unknown flag) → suggestion for the error message.
    """
    if not flags:
        return  # collecting all of Beam's options takes a third of a second
    from corpusmill.pipelines.run.engines.beam_patches import unknown_flags

    if unknown := unknown_flags(flags):
        if not unknown[0].startswith("-"):
            raise ValueError(
                f"unexpected argument: {' '.join(unknown)} (a pattern such as * may stand for several files)"
            )
        name = next((one.partition("=")[0] for one in unknown if one.startswith("-")), "")
        raise ValueError(f"no such flag: {' '.join(unknown)}{guess(name)}")
