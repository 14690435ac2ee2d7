"""Finds traces that programs have left in a translation.

These are HTML entities, tags, wikitext, and text that was decoded with a wrong encoding.
"""

import re
from collections.abc import Iterator, Sequence

from corpusmill.pipelines.translation.pairs import ERROR, Pair, excerpt, first_difference
from corpusmill.transforms.files.translation_records import Finding

_ENTITY = re.compile(r"&(?:#\d{1,7}|#x[0-9a-fA-F]{1,6}|[a-zA-Z]{2,8}\d?);")
_MARKUP = re.compile(
    r"</?[a-zA-Z][a-zA-Z0-9]{0,15}(?:\s[^<>]*)?/?>|\[\[|\]\]|\{\{|\}\}|'''?|<!--|\{\d+\}|%[sd]\b"
)


def find_leftovers(pairs: Sequence[Pair]) -> Iterator[Finding]:
    """Yields errors for HTML entities (`html-entities`), markup (`markup`) and wrong encodings (`mojibake`).

    HTML entities and markup that are also in the source are not reported.
    """
    import ftfy  # imported here, because it loads large tables

    config = ftfy.TextFixerConfig(unescape_html=False)
    for pair in pairs:
        source, target = pair.source.text, pair.translation.text
        for rule, pattern in (("html-entities", _ENTITY), ("markup", _MARKUP)):
            match = pattern.search(target)
            if match and match[0] not in source:
                message = f"{excerpt(match[0])} was left in the text: remove it, or write what it stands for"
                yield pair.finding(rule, ERROR, message)
        # A line of ASCII characters cannot have been read in a wrong encoding.
        if not target.isascii() and ftfy.fix_encoding(target, config) != target:
            was, should = first_difference(target, ftfy.fix_encoding(target, config), " ")
            message = f"read in a wrong encoding: {excerpt(was)} should be {excerpt(should)}"
            yield pair.finding("mojibake", ERROR, message)
