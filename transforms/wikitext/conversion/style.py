"""Reads the options of `{{convert}}`. For example, an option decides which units are written as names."""

import dataclasses
import re
from typing import Literal

from corpusmill.transforms.wikitext.conversion.units import Unit
from corpusmill.transforms.wikitext.language import NumberFormat
from corpusmill.transforms.wikitext.templates.patterns import Arguments
from corpusmill.transforms.wikitext.templates.rendering import Page

Side = Literal["in", "out"]

_NAMING_DISPLAYS = frozenset({"or", "slash", "br", "br()"})
_ROUNDINGS = {"0.5": 0.5, "5": 5.0, "10": 10.0, "25": 25.0, "50": 50.0}


@dataclasses.dataclass
class Style:
    """The options of one conversion, and settings that are derived from them."""

    arguments: Arguments
    page: Page
    numbers: NumberFormat
    abbreviation: str  # "in", "out", "on", "off"; "values": no units at all
    abbreviation_given: bool
    is_adjective: bool
    american: bool
    flip: bool
    spell_out: frozenset[str] = frozenset()  # "in", "out": where numbers are spelled out
    capital: bool = False
    middle: str = ""  # text after the input: " wide"
    before_unit: tuple[str, str] = ("", "")  # texts between number and unit: " new "
    around: tuple[str, str] | None = None  # texts before and after the output
    decimals: int | None = None
    significant: int | None = None
    multiple: float = 0.0  # outputs are rounded to a multiple of this; 0: no rounding
    denominator: int = 0  # outputs are fractions with this denominator; 0: decimals
    scientific: bool = False
    names_both: bool = False
    is_local: bool = False  # units have the names and symbols of the language

    @property
    def adjective(self) -> str:
        return self.arguments.get("adj", "")

    @property
    def display(self) -> str:
        return self.arguments.get("disp", "")

    @property
    def english(self) -> bool:
        return self.page.language.is_english

    def names(self, unit: Unit, side: Side) -> bool:
        """Returns True if a unit is written with its English name on one side of a conversion.

        `side` is "in" for the input or "out" for the output.
        """
        if not self.english:
            return False
        return unit.spelled or not self.is_short(unit, side)

    def is_short(self, unit: Unit, side: Side) -> bool:
        """Returns True if a unit is written with its symbol, if it has one, on one side of a conversion.

        `side` is "in" for the input or "out" for the output.
        """
        if not self.abbreviation_given:
            if unit.abbreviated:
                return True
            if self.names_both or unit.name == "hand":
                return False
        return self.abbreviation in ("on", side)


def read_style(arguments: Arguments, page: Page, *, short: bool) -> Style:
    """Reads the style from the arguments of a template call.

    If `short` is True, units are written with their symbols by default, as in `{{cvt}}`.
    """
    abbreviation = arguments.get("abbr", "")
    given = abbreviation in ("on", "off", "in", "out", "none", "values", "unit", "h", "hh")
    if not given:
        abbreviation = "on" if short else "out"
    abbreviation = {"none": "off", "unit": "on", "h": "on", "hh": "on"}.get(
        abbreviation, abbreviation
    )
    display = arguments.get("disp", "")
    flip = arguments.get("order") == "flip" or display == "flip" or arguments.get("adj") == "flip"
    spelling = arguments.get("spell", "") if page.language.is_english else ""
    spelled = {"in": {"in"}, "on": {"in", "out"}}.get(spelling.lower(), set())
    if spelled == {"in", "out"} and not given:
        abbreviation = "off"
    if flip:
        abbreviation = {"in": "out", "out": "in"}.get(abbreviation, abbreviation)
        spelled = {"out"} if spelled == {"in"} else spelled
    numbers = page.language.numbers
    if arguments.get("comma") == "off":
        numbers = dataclasses.replace(numbers, group="")
    elif arguments.get("comma") == "5":
        numbers = dataclasses.replace(numbers, min_grouped_digits=5)
    elif arguments.get("comma", "").startswith("gaps"):
        numbers = dataclasses.replace(numbers, group=" ")
    significant, denominator = arguments.get("sigfig", ""), arguments.get("frac", "").lstrip("-")
    return Style(
        arguments,
        page,
        numbers,
        abbreviation,
        given or short,
        (arguments.get("adj") or arguments.get("sing")) in ("on", "mid"),
        arguments.get("sp") == "us" or spelling == "us",
        flip,
        frozenset(spelled),
        spelling[:1].isupper(),
        multiple=_ROUNDINGS.get(arguments.get("round", ""), 5.0 if display == "5" else 0.0),
        significant=int(significant) if re.fullmatch(r"[1-9]\d?", significant) else None,
        denominator=int(denominator) if re.fullmatch(r"\d{1,4}", denominator) else 0,
        names_both=display in _NAMING_DISPLAYS,
    )
