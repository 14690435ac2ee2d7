"""Settings of builds. Each setting is one field of a config class, and the field says all about it.

The flags of a command, its help page, the checks of values, the names of editions, and the settings in
manifests and signatures are made from these fields.
"""

import argparse
import collections.abc
import dataclasses
import math
import typing
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from corpusmill.transforms.files.builds.ledger import EMPTY_TRAIN
from corpusmill.transforms.files.builds.manifest import check_name, name_edition
from corpusmill.transforms.files.compression import ON_CORRUPT
from corpusmill.transforms.files.formats import CHOICES, DEFAULT, parse_formats
from corpusmill.transforms.wikitext.wikis import code_of_language

EDITION, MANIFEST = "edition", "manifest"
"""Values of `part_of`: the name of the edition, the signature and the manifest; or only the manifest."""

STORES = "file names or patterns, on any file system of Beam's (gs://, s3://, hdfs://)"


class Setting(NamedTuple):
    """The facts about a setting that are not in the name, type and default of its field."""

    group: "Group"
    help: str = ""  # for help pages; "" if there is no flag
    part_of: str = ""  # EDITION, MANIFEST or ""
    omit_default: bool = False  # if it has its default, the manifest does not have it
    choices: Sequence[str] = ()  # the allowed values
    at_least: float = -math.inf
    at_most: float = math.inf
    check: Callable[[str, Any], None] | None = None  # raises ValueError, given name and value
    flag: Mapping[str, Any] = {}  # further arguments for `add_argument`


class Group(NamedTuple):
    """Makes the settings that are together on the help page. Without a title, they are in no group."""

    title: str = ""
    about: str | None = None
    part_of: str = ""  # what its settings are part of, if they do not say it

    def setting(self, default: Any = dataclasses.MISSING, help: str = "", **more: Any) -> Any:
        """Returns the field of a setting.

        Args:
          default: The default. Without one, the setting is required.
          help: The text for the help page, which may contain "%(default)s". Without it, there is no flag.
          more: The other fields of Setting, and further arguments for `add_argument`.
        """
        own = {name: more.pop(name) for name in Setting._fields if name in more}
        setting = Setting(self, help, **{"part_of": self.part_of, **own}, flag=more)
        return dataclasses.field(default=default, metadata={"setting": setting})

    def dump_date(self, otherwise: str) -> Any:
        """Returns the date in the name of a build. `otherwise` says which date is used without it."""
        return self.setting(
            "", f"names the build; default: {otherwise}", part_of="", check=check_name
        )

    def limit(self, unit: str) -> Any:
        """Returns the number of documents to read, for a quick trial; 0 reads all.

        Args:
          unit: The name of the documents, such as "pages".
        """
        help = f"read only the first N {unit}, for a quick trial; the manifest and the card say so"
        return self.setting(0, help, part_of=EDITION, omit_default=True, at_least=0, type=positive)

    def on_corrupt(self, kept: str = "use its undamaged part") -> Any:
        """Returns what to do if an input is damaged.

        Args:
          kept: The effect of the value "keep-good", for the help page.
        """
        help = f"what to do if an input is damaged: end with an error (default), or {kept}"
        return self.setting("fail", help, part_of=MANIFEST, choices=ON_CORRUPT)

    def formats(self, default: str = DEFAULT) -> Any:
        """Returns the formats of the files with the rows, separated by commas."""
        help = (
            f"formats of the files with the rows, separated by commas: {', '.join(CHOICES)}"
            " (default %(default)s; docs/formats.md)"
        )
        return self.setting(
            default,
            help,
            part_of=MANIFEST,
            omit_default=True,
            check=_check_formats,
            metavar="FORMATS",
            type=typed(_in_order),
        )

    def near_duplicates(self, help: str) -> Any:
        """Returns the minimum similarity at which documents are dropped; 0 keeps all."""
        return self.setting(
            0.0, help, part_of=EDITION, check=_check_similarity, metavar="SIMILARITY"
        )


class Config:
    """Base class of the dataclasses of settings. Invalid settings raise ValueError."""

    language: Any = "en"  # of the corpus
    doubts: Any = (EMPTY_TRAIN,)  # signs of damaged inputs that its builds can find; keys of DOUBTS

    def __post_init__(self) -> None:
        for field, setting in settings_in(type(self)):
            _check(field, setting, getattr(self, field.name))

    def part(self, part_of: str) -> dict[str, Any]:
        """Returns name → value of the settings whose field `part_of` has this value."""
        return {
            field.name: value
            for field, setting in settings_in(type(self))
            if setting.part_of == part_of
            and ((value := getattr(self, field.name)) != field.default or not setting.omit_default)
        }

    def variant(self) -> dict[str, Any]:
        """Returns the settings that distinguish corpora made from the same input."""
        return self.part(EDITION)

    def edition(self) -> str:
        """Returns the name of the edition: the language, and the settings that differ from the defaults.

        Examples are "en" and "en-shards-10".
        """
        return name_edition(self.language, self.variant(), self.original())

    def original(self) -> dict[str, Any]:
        """Returns the values of `variant` that the name of an edition does not have: the defaults."""
        return {
            field.name: field.default
            for field, setting in settings_in(type(self))
            if setting.part_of == EDITION
        }


def settings_in(config: type) -> list[tuple["dataclasses.Field[Any]", Setting]]:
    """Returns the fields of a config class that are settings, in order."""
    fields = dataclasses.fields(config)
    return [(one, one.metadata["setting"]) for one in fields if "setting" in one.metadata]


def _check(field: "dataclasses.Field[Any]", setting: Setting, value: Any) -> None:
    """Raises ValueError, with the name of the setting, for a value that is not allowed."""
    name, least, most = field.name, setting.at_least, setting.at_most
    if field.default is dataclasses.MISSING and value in ([], ()):
        raise ValueError(f"`{name}` is empty: there must be at least one input file or folder")
    if setting.choices and value not in (*setting.choices, field.default):
        raise ValueError(f"{name} must be one of {', '.join(setting.choices)}, not {value!r}")
    if not isinstance(value, str | Sequence) and (value < least or value > most):
        wanted = "positive" if least == 1 else "0 or more" if least == 0 else f"at least {least}"
        if most < math.inf:
            wanted = f"from {least} to {most:,}"
        raise ValueError(f"{name} must be {wanted}, not {value}")
    if setting.check:
        setting.check(name, value)


def _check_similarity(name: str, value: float) -> None:
    if not 0 <= value < 1:
        raise ValueError(f"{name} must be at least 0 and below 1, not {value}")


def _check_formats(name: str, value: str) -> None:
    try:
        in_order = _in_order(value)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None
    if value != in_order:  # the order would change the manifest, and not the files
        raise ValueError(f"{name}: write it as {in_order}")


def _in_order(formats: str) -> str:
    return ",".join(parse_formats(formats))


def positive(text: str) -> int:
    """Returns a positive whole number. Used as the `type` of a flag."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"must be a positive whole number, got {text}")
    return number


def typed(parse: Callable[[str], Any]) -> Callable[[str], Any]:
    """Returns the `type` of a flag: `parse`, whose ValueErrors are the messages of the flag."""

    def parsed(text: str) -> Any:
        try:
            return parse(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return parsed


language_code = typed(code_of_language)
"""The `type` of flags whose value is the code or the name of a language."""


def add_settings(parser: argparse.ArgumentParser, config: type) -> None:
    """Adds a flag for each setting of a config class that has a help text."""
    kinds = typing.get_type_hints(config)
    groups: dict[str, Any] = {str(one.title): one for one in parser._action_groups} | {"": parser}
    for field, setting in settings_in(config):
        if not setting.help:
            continue
        title = setting.group.title
        if title not in groups:
            groups[title] = parser.add_argument_group(title, setting.group.about)
        name = field.name.replace("_", "-")
        flag = f"--no-{name}" if field.default is True else f"--{name}"
        given = {**_arguments(field, kinds[field.name]), **setting.flag}
        if setting.choices:
            given |= {"choices": setting.choices, "metavar": None, "type": None}
        groups[title].add_argument(flag, dest=field.name, help=setting.help, **given)


def _arguments(field: "dataclasses.Field[Any]", kind: Any) -> dict[str, Any]:
    """Returns the arguments for `add_argument` that the type and the default of a field determine."""
    if kind is bool:
        return {"action": "store_false" if field.default else "store_true"}
    is_required = field.default is dataclasses.MISSING
    shared = {"default": None if is_required else field.default, "required": is_required}
    if typing.get_origin(kind) is collections.abc.Sequence:
        several = {"default": (not is_required and field.default) or [], "nargs": "+"}
        return {**shared, **several, "type": typing.get_args(kind)[0], "metavar": "FILE"}
    metavar = field.name.rpartition("_")[2].upper() if kind is str else "N"
    return {**shared, "type": kind, "metavar": metavar}


def settings_of(config: type, settings: argparse.Namespace) -> dict[str, Any]:
    """Returns name → value of the flags that have the name of a field of the class `config`.

    Flags whose value is None are left out, so that the field keeps its default.
    """
    given = {name: value for name, value in vars(settings).items() if value is not None}
    return {
        field.name: given[field.name] for field in dataclasses.fields(config) if field.name in given
    }
