"""Flags that are passed to Beam as they are."""

from collections.abc import Sequence


def check_beam_flags(flags: Sequence[str]) -> None:
    """Raises ValueError for a flag that Beam does not know: a typing error must not go unnoticed."""
    if not flags:
        return  # to ask all of Beam's options takes a third of a second
    from pipelines.engines.beam_patches import unknown_flags

    if unknown := unknown_flags(flags):
        raise ValueError(f"no such flag: {' '.join(unknown)}")
