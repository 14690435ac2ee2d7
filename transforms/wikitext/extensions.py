"""Removes comments and the tags whose content is not wikitext, such as references, formulas and galleries.

MediaWiki handles these before it parses the page, so the parser never sees their content.
"""

import re

from corpusmill.transforms.wikitext.marks import (
    FORMULA_END,
    FORMULA_START,
    GUARD,
    HOLE,
    SEPARATOR,
    protect,
)
from corpusmill.transforms.wikitext.tags import decode_entities

_SILENT = (
    "ref|references|gallery|timeline|score|imagemap|graph|mapframe|maplink|templatedata|pre"
    "|templatestyles|section|hiero|inputbox|categorytree|indicator|includeonly|syntaxhighlight"
    "|source|math|chem|ce|nowiki|listing|rss|charinsert|dynamicpagelist|phonos|langconvert"
    "|img_auth|quiz|chess|pages|video|videoflash|ogg|abc|embed"
)
# The first character decides early about most tags, which are line breaks and ends of other tags.
_OPEN = re.compile(rf"<(?![/bBfFuU])(?:!--|(?i:({_SILENT}))(\s[^<>]*?)?(/?)>)")
_CLOSE = {name: re.compile(rf"</(?i:{name})\s*>") for name in _SILENT.split("|")}
_REST_OF_LINE = re.compile(r"[ \t]*\n")
_OPENING = (" ", "\u00a0", "(", "（", "[", "«", '"', "“")
_COMMAS, _AFTER_COMMA = (",", "،", "、"), (",", "،", "、", ".", "。", "։", "।")
_ADDRESS_BEFORE = re.compile(r"//[^\s\[\]<>\"]++$")
_MAX_ADDRESS = 300  # characters
_NO_BREAK = "&nbsp;"
_FORMULAS = {"math", "chem", "ce"}
# After a removed tag, these would make the line a list or code. After a comment only spaces matter: MediaWiki
# removes comments before it looks at lines.
_LIST_OR_CODE = (" ", "\t", "*", "#", ":", ";")
_BLANKS_AND_TEXT = re.compile(r"[ \t]+[^\s*#:;|!{]")
_MARKUP = "\n[]{}'=_-|"  # characters that mean more in pairs or at the start of a line
# Punctuation after white space. Before it there was a note, which was removed.
_STOP_AFTER_BLANK = re.compile(r"[ \n](?:[。．、，]|[.,;:!?،؛।։۔](?:\s|$))")
_STOP = re.compile(_STOP_AFTER_BLANK.pattern.removeprefix(r"[ \n]"))
_BLANKS = (" ", "\n")
_INCLUSION = re.compile(r"</?(?i:noinclude|onlyinclude)\s*+>")
_TEX_SPACE = r"(?:\\[,;:!> ]|\\q?quad\b|~|\\(?:text|display|script)style\b|\s|\\$)"
_TEX_START = re.compile(rf"^{_TEX_SPACE}+")
_TEX_END = re.compile(rf"{_TEX_SPACE}{{1,8}}$")  # bounded: tried at every position
_TEX_BRACES = re.compile(r"([{}])(?=\1)")


def _show_formula(tex: str) -> str:
    """Returns the TeX of a formula, without spacing and style commands at its start and end."""
    tex = _TEX_END.sub("", _TEX_START.sub("", " ".join(tex.split())))
    # A space in "}}" does not change a formula, and "} }" does not look like the end of a template.
    tex = _TEX_BRACES.sub(r"\1 ", tex)
    return f"{FORMULA_START}{protect(tex)}{FORMULA_END}" if tex else ""


def _shown(name: str, attributes: str, content: str) -> str:
    """Returns the visible text of an element, given the name and attributes of its tag and its content.

    The content of nowiki, inline code and formula elements is visible. For other elements, returns "".
    """
    if name == "nowiki":
        shown = protect(decode_entities(content)).replace("\n", " ")
        return f"{GUARD}{shown}" if shown[:1] == " " else shown
    if name in _FORMULAS:
        return _show_formula(content)
    if name in ("syntaxhighlight", "source") and "inline" in attributes:
        return protect(content)
    return ""


def _filler(name: str, before: str, after: str) -> str:
    """Returns a mark that separates the texts before and after a removed tag, or "" if no mark is needed.

    Args:
      name: the name of the tag.
      before: the character before the tag, or "" at the start of the page.
      after: the characters after the tag.
    """
    if name == "nowiki":
        is_read = after[:1] in _MARKUP or after.startswith(_LIST_OR_CODE)
        return SEPARATOR if before in _MARKUP and is_read else ""
    if before == "\n" and _STOP.match(after):
        return HOLE
    if before == "\n" or not before:
        return GUARD if after.startswith(_LIST_OR_CODE) else ""
    if before in _OPENING or (before in _COMMAS and after[:1] in _AFTER_COMMA):
        return HOLE
    if before == "'":
        return SEPARATOR if after[:1] == "'" else ""
    return HOLE if after[:1] in _BLANKS and _STOP_AFTER_BLANK.match(after) else ""


def _last(kept: list[str]) -> str:
    """Returns the last character of a list of texts, or "" if the list is empty."""
    if not kept:
        return ""
    return " " if kept[-1].endswith(_NO_BREAK) else kept[-1][-1]


def _ends_in_address(kept: list[str]) -> bool:
    return bool(kept and _ADDRESS_BEFORE.search(kept[-1][-_MAX_ADDRESS:]))


def strip_extensions(wikitext: str) -> str:
    """Removes comments and extension tags from wikitext.

    The visible text of tags is kept. Its markup characters are replaced by stand-ins (see `protect`).

    A comment without an end extends to the end of the page. If a tag is not closed, only the tag itself is
    removed.
    """
    if "nclude>" in wikitext:
        wikitext = _INCLUSION.sub("", wikitext)
    kept: list[str] = []
    position = 0
    unclosed: set[str] = set()
    opener = _OPEN.search(wikitext)
    while opener:
        start, end = opener.span()
        if position < start:
            kept.append(wikitext[position:start])
        if opener[1] is None:
            close = wikitext.find("-->", end)
            end = len(wikitext) if close < 0 else close + 3
            line_end = _REST_OF_LINE.match(wikitext, end)
            if line_end and (start == 0 or wikitext[start - 1] == "\n"):
                end = line_end.end()  # a comment on a line of its own is removed with the line
            elif wikitext[start - 1 : start] in ("", "\n") and _BLANKS_AND_TEXT.match(
                wikitext, end
            ):
                kept.append(GUARD)
        else:
            name = opener[1].lower()
            shown = ""
            if not opener[3]:
                closer = None if name in unclosed else _CLOSE[name].search(wikitext, end)
                if closer:
                    shown = _shown(name, opener[2] or "", wikitext[end : closer.start()])
                    end = closer.end()
                    if name == "nowiki" and _ends_in_address(kept):
                        shown = f"{SEPARATOR}{shown}"
                else:
                    unclosed.add(name)
                    if name == "nowiki" and opener[2]:  # "<nowiki / >" is text
                        shown = protect(opener[0])
            shown = shown or _filler(name, _last(kept), wikitext[end : end + 3])
            if shown:
                kept.append(shown)
        position = end
        opener = _OPEN.search(wikitext, position)
    kept.append(wikitext[position:])
    return "".join(kept)
