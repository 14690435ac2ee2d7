"""Removes HTML tags and decodes entities. Text between tags is kept, unless it is hidden on the page."""

import html
import re
from html.entities import html5

from corpusmill.transforms.wikitext.marks import BREAK, HOLE, SECTION, SEPARATOR
from corpusmill.transforms.wikitext.templates.rendering import superscript

_BLOCK_NAMES = "p|div|center|blockquote|poem|h[1-6]|hr|li|dd|dt|tr|td|th|caption|tbody|thead"
_INLINE_NAMES = (
    "b|i|u|s|em|strong|strike|small|big|sub|sup|span|font|code|tt|kbd|samp|var|cite|dfn|abbr|q"
    "|del|ins|bdi|bdo|wbr|rb|rp|rt|rtc|ruby|mark|time|data|noinclude|onlyinclude|includeonly"
    "|table|ul|ol|dl|ref|references|nowiki|math|chem|gallery|pre|source|syntaxhighlight"
    "|timeline|section|templatestyles|indicator|translate|languages|tvar|noref|center|a"
)
_WITHIN = rf"[^<>{SECTION}]*"
_BREAKS = re.compile(rf"<(?i:br)\b{_WITHIN}+>\s*+(?:<(?i:br)\b{_WITHIN}+>\s*+)++")
_BREAK = re.compile(rf"</?(?i:br)\b{_WITHIN}>")
_BLOCK = re.compile(rf"</?(?i:{_BLOCK_NAMES})(?:\s{_WITHIN})?/?>")
_INLINE = re.compile(rf"</?(?i:{_INLINE_NAMES})(?:\s{_WITHIN})?/?>")
_INLINE_IN_QUOTES = re.compile(rf"'{_INLINE.pattern}(?=')")
_HIDDEN = re.compile(
    rf"<([A-Za-z]++)\s[^<>{SECTION}]*?\bstyle\s*+=[^<>{SECTION}]*?\bdisplay\s*+:\s*+none\b{_WITHIN}>",
    re.IGNORECASE,
)
_SUPERSCRIPT = re.compile(rf"<(?i:sup)(?:\s{_WITHIN})?>([^<>\n{SECTION}]{{1,40}}+)</(?i:sup)\s*>")
_RAISED = str.maketrans("–=ni", "⁻⁼ⁿⁱ")  # besides the characters of `superscript`
_HAS_FORM = re.compile(r"[0-9+\-−–=()ni]+")
# An exponent; not the letters of "19<sup>th</sup>" or the number of a note, "[1]".
_EXPONENT = re.compile(r"(?=.*[\d+−–/-])[\w+−–/.,()-]{1,12}")
_ITALIC_LETTER = re.compile(r"''+\w''+")
_ENTITY = re.compile(r"&(?:#0*+[0-9]{1,7}|#[xX]0*+[0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_ADDRESS = re.compile(
    r"((?:https?|ftp)://[^\s/?#<>\[\]\"{|}]++)((?:[/?](?:&#|[^\s#<>\[\]\"{|}])*+)?)"
)
_NO_ADDRESS = re.compile(r"[\[\]\"|]")
_INVISIBLE = re.compile("[\u00ad\u1806\u200b-\u200d\u2060\ufe00-\ufe0f\ufeff]")


def strip_tags(text: str) -> str:
    """Removes the HTML tags that MediaWiki allows.

    Two line-break tags, or the tag of a block element, end a paragraph.
    """
    if "<" not in text:
        return text
    if "display" in text:
        text = _hide(text)
    if "<sup" in text or "<SUP" in text:
        text = _SUPERSCRIPT.sub(_show_superscript, text)
    text = _BREAKS.sub(BREAK, text)
    text = _BREAK.sub(" ", text)
    text = _BLOCK.sub(BREAK, text)
    if "'<" in text and ">'" in text:
        text = _INLINE_IN_QUOTES.sub(f"'{SEPARATOR}", text)
    return _INLINE.sub("", text)


def decode_entities(text: str) -> str:
    """Decodes named and numeric entities that end with a semicolon. The result is not decoded again."""
    if "&" not in text:
        return text
    if "://" in text:
        text = _ADDRESS.sub(_show_address, text)
    return _ENTITY.sub(_decode, text)


def _show_address(address: re.Match[str]) -> str:
    """Returns a URL as MediaWiki displays it. Brackets and bars written as entities become `%5B` etc."""
    host, path = (_ENTITY.sub(_decode, part) for part in address.groups())
    if "<" in host + path or ">" in host + path:  # the address ends there
        return address[0]
    path = _NO_ADDRESS.sub(lambda found: f"%{ord(found[0]):02X}", path)
    return f"{_INVISIBLE.sub('', host)}{path}".replace("&", "&amp;")


def _decode(entity: re.Match[str]) -> str:
    # An unknown name is kept: html.unescape would decode "&ampx;" as "&x;".
    name = entity[0][1:]
    return html.unescape(entity[0]) if name[0] == "#" else html5.get(name, entity[0])


def _hide(text: str) -> str:
    """Removes the elements that are hidden on the page, such as sort keys in a table."""
    kept: list[str] = []
    position = 0
    unclosed: set[str] = set()
    for opener in _HIDDEN.finditer(text):
        name = opener[1].lower()
        if opener.start() < position or name in unclosed:
            continue
        end = _end_of_element(text, opener.end(), name)
        if end < 0:
            unclosed.add(name)
            continue
        kept += (text[position : opener.start()], HOLE)
        position = end
    kept.append(text[position:])
    return "".join(kept)


def _end_of_element(text: str, position: int, name: str) -> int:
    """Returns the position after an element whose content begins at `position`; -1 if it is not closed."""
    depth = 1
    for tag in re.finditer(rf"<(/?)(?i:{name})\b{_WITHIN}>|{SECTION}", text[position:]):
        if tag[0] == SECTION:
            return -1
        depth += -1 if tag[1] else 1
        if not depth:
            return position + tag.end()
    return -1


def _show_superscript(match: re.Match[str]) -> str:
    """Returns the text of a `<sup>` element.

    An exponent is "n", "i" or a letter in italics, or consists of letters, digits, signs, parentheses, points
    and commas with at least one digit or sign. It is written in superscript characters. If one of its
    characters has no superscript form, it is written after "^", or as plain text if no base precedes it. For
    other superscripts (ordinals, notes, phonetic symbols), only the tag is removed.
    """
    before, written = match.string[match.start() - 1 : match.start()], match[1]
    shown = decode_entities(written).replace("''", "").strip()
    if shown.isalpha() and shown not in ("n", "i") and not _ITALIC_LETTER.fullmatch(written):
        return written
    if _HAS_FORM.fullmatch(shown):
        return superscript(shown).translate(_RAISED)
    if _EXPONENT.fullmatch(shown) or shown.isalpha():
        return f"^{shown}" if before.isalnum() or before in (")", "'") else shown
    return written
