"""Flags that are passed to Beam as they are."""

from collections.abc import Sequence
from typing import Any

from apache_beam.options.pipeline_options import PipelineOptions, _BeamArgumentParser


def check_beam_flags(flags: Sequence[str]) -> None:
    """Raises ValueError for a flag that Beam does not know: a typing error must not go unnoticed."""
    if not flags:
        return  # to ask all of Beam's options takes a third of a second
    parser = _BeamArgumentParser(allow_abbrev=False, add_help=False)
    for subclass in _all_subclasses(PipelineOptions):
        subclass._add_argparse_args(parser)
    _, unknown = parser.parse_known_args(list(flags))
    if unknown:
        raise ValueError(f"no such flag: {' '.join(unknown)}")


def _all_subclasses(base: type) -> list[Any]:
    found: dict[str, Any] = {}
    direct: list[Any] = base.__subclasses__()
    for subclass in direct:
        found.setdefault(subclass.__qualname__, subclass)
        for below in _all_subclasses(subclass):
            found.setdefault(below.__qualname__, below)
    return list(found.values())
