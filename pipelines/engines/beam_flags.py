"""Flags that are passed to Beam as they are."""

from collections.abc import Callable, Sequence


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
