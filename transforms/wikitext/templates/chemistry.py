"""Expands templates for chemical formulas: `{{chem|SO|4|2-}}`, `{{chem2|SO4(2-)}}`."""

import re

from corpusmill.transforms.wikitext.templates.patterns import Arguments, positional
from corpusmill.transforms.wikitext.templates.rendering import Page

_CHARGE = re.compile(r"(\d*)-")
_CHARGE_IN_BRACKETS = re.compile(r"\((\d{0,2}[+−-])\)|(?<=[\])}\w])-(?=$|[\s\])])")
_MARKED = re.compile(r"[\^_]\{([^{}]*)\}")
_MAX_FORMULA = 1_000  # characters
_ARROWS = {"<->": "↔", "<=>": "⇌", "<-->": "⇄", "->": "→", "<-": "←", "*": "·", "\\s": "–"}
_ARROW = re.compile("|".join(map(re.escape, sorted(_ARROWS, key=len, reverse=True))))
_ELEMENTS = (
    "H hydrogen He helium Li lithium Be beryllium B boron C carbon N nitrogen O oxygen F fluorine "
    "Ne neon Na sodium Mg magnesium Al aluminium Si silicon P phosphorus S sulfur Cl chlorine "
    "Ar argon K potassium Ca calcium Sc scandium Ti titanium V vanadium Cr chromium Mn manganese "
    "Fe iron Co cobalt Ni nickel Cu copper Zn zinc Ga gallium Ge germanium As arsenic Se selenium "
    "Br bromine Kr krypton Rb rubidium Sr strontium Y yttrium Zr zirconium Nb niobium "
    "Mo molybdenum Tc technetium Ru ruthenium Rh rhodium Pd palladium Ag silver Cd cadmium "
    "In indium Sn tin Sb antimony Te tellurium I iodine Xe xenon Cs caesium Ba barium "
    "La lanthanum Ce cerium Pr praseodymium Nd neodymium Pm promethium Sm samarium Eu europium "
    "Gd gadolinium Tb terbium Dy dysprosium Ho holmium Er erbium Tm thulium Yb ytterbium "
    "Lu lutetium Hf hafnium Ta tantalum W tungsten Re rhenium Os osmium Ir iridium Pt platinum "
    "Au gold Hg mercury Tl thallium Pb lead Bi bismuth Po polonium At astatine Rn radon "
    "Fr francium Ra radium Ac actinium Th thorium Pa protactinium U uranium Np neptunium "
    "Pu plutonium Am americium Cm curium Bk berkelium Cf californium Es einsteinium Fm fermium "
    "Md mendelevium No nobelium Lr lawrencium Rf rutherfordium Db dubnium Sg seaborgium "
    "Bh bohrium Hs hassium Mt meitnerium Ds darmstadtium Rg roentgenium Cn copernicium "
    "Nh nihonium Fl flerovium Mc moscovium Lv livermorium Ts tennessine Og oganesson"
).split()
_SYMBOLS = dict(zip(_ELEMENTS[1::2], _ELEMENTS[::2], strict=True))


def formula(arguments: Arguments, page: Page) -> str:
    """Expands `{{chem|SO|4|2-}}`, a formula in several arguments.

    The hyphen of a negative charge becomes a minus sign.
    """
    return "".join(_CHARGE.sub(r"\1−", part) if _CHARGE.fullmatch(part) else part
                   for part in positional(arguments))  # fmt: skip


def formula_as_text(arguments: Arguments, page: Page) -> str:
    """Expands `{{chem2|SO4(2-) + 2 H2O -> x}}`, a formula in one argument with charges in brackets."""
    if len(arguments.get("1", "")) > _MAX_FORMULA:
        return arguments["1"]
    text = _ARROW.sub(lambda match: _ARROWS[match[0]], arguments.get("1", ""))
    text = _MARKED.sub(r"\1", text)
    return _CHARGE_IN_BRACKETS.sub(lambda match: (match[1] or "-").replace("-", "−"), text)


def formula_or_era(arguments: Arguments, page: Page) -> str:
    """Expands `{{ce|H2O}}` to a formula, and `{{CE}}` (Common Era) to "CE".

    One function handles both, because template names are not case-sensitive in the language tables.
    """
    return formula_as_text(arguments, page) or "CE"


def nuclide(arguments: Arguments, page: Page) -> str:
    """Expands `{{nuclide|Carbon|14}}` to the mass number and the symbol: "14C"."""
    name, mass = arguments.get("1", ""), arguments.get("2", "")
    return mass + _SYMBOLS.get(name.lower(), name) if name else ""
