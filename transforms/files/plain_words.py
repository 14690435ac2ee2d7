"""Normalises words by removing case and punctuation, so that two editions of a text have the same words.

For example, Project Gutenberg has one edition of a book with straight quotes and another with curly quotes.
The editions may share only half of the 8-grams of their original words, but nearly all 8-grams of their
normalised words.
"""

import re

# Patterns over UTF-8 bytes, because a search for a pattern with a fixed first byte is fast.
_MARKS = (
    re.compile(rb"\xc2[\xa0-\xbf]"),  # Latin-1 punctuation
    re.compile(rb"\xe2[\x80\x81][\x80-\xbf]"),  # General Punctuation, including spaces
    re.compile(rb"\xe3\x80[\x80-\x9f]"),  # CJK Symbols and Punctuation
    re.compile(rb"\xef(?:\xbc[\x81-\x8f\x9a-\xa0\xbb-\xbf]|\xbd[\x80\x9b-\xa5])"),  # full width
)
_MAYBE_UNSPACED = re.compile(rb"[\xe0\xe1\xe3-\xe9]")
_UNSPACED = re.compile(
    rb"(\xe0[\xb8-\xbb][\x80-\xbf]"  # Thai, Lao
    rb"|\xe1[\x80-\x82\x9e\x9f][\x80-\xbf]"  # Burmese, Khmer
    rb"|\xe3[\x81-\xbf][\x80-\xbf]|[\xe4-\xe9][\x80-\xbf]{2})"  # kana, Han
)
_TO_BLANKS = bytes(byte if byte > 127 or chr(byte).isalnum() else ord(" ") for byte in range(256))


def plain_words(text: str) -> str:
    """Lower-cases a text and replaces punctuation, symbols and line ends by spaces.

    In scripts without spaces between words, each character becomes a word.
    """
    plain = text.lower().encode("utf-8")
    if not text.isascii():
        for marks in _MARKS:
            plain = marks.sub(b" ", plain)
        if _MAYBE_UNSPACED.search(plain):
            plain = _UNSPACED.sub(rb" \1 ", plain)
    return plain.translate(_TO_BLANKS).decode("utf-8")
