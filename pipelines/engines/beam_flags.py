"""Flags that are passed to Beam as they are."""

from collections.abc import Callable, Sequence

from pipelines.engines.runners import DATAFLOW


def check_runner_flags(runner: str, flags: Sequence[str]) -> None:
    """Raises ValueError for flags that Dataflow cannot start a job with: before stores are asked for inputs,
    which takes minutes where there is no network.
    """
    if runner != DATAFLOW:
        return
    from apache_beam.options.pipeline_options import PipelineOptions

    from pipelines.engines.dataflow.dataflow_flags import check_flags

    check_flags(PipelineOptions(list(flags)))


def check_beam_flags(flags: Sequence[str], guess: Callable[[str], str] = lambda _: "") -> None:
    """Raises ValueError for a flag that Beam does not know: a typing error must not go unnoticed.

    Args:
      guess: an unknown flag → what the message says of a flag that is like it.
    """
    if not flags:
        return  # to ask all of Beam's options takes a third of a second
    from pipelines.engines.beam_patches import unknown_flags

    if unknown := unknown_flags(flags):
        name = next((one.partition("=")[0] for one in unknown if one.startswith("-")), "")
        raise ValueError(f"no such flag: {' '.join(unknown)}{guess(name)}")
