"""Normalises and tokenises blocks of lines like the Perl scripts of the One Billion Word benchmark.

The result has the same bytes as that of the scripts. Most lines are processed by fast array operations. A
line for which these operations might give a different result is processed by the rules of the scripts
instead.
"""

import itertools
import operator
from collections.abc import Callable, Sequence

from ..files import line_blocks
from ..files.line_blocks import block_of, cut_block, lines_of
from .block_tokenizer import BlockTokenizer
from .perl_text import CURRENT_PERL
from .punctuation import (
    frame,
    line_feeds_in,
    lines_to_normalize,
    normalize_line,
    normalize_text,
    put_lines,
    take_lines,
    unframe,
)
from .wmt_tokenizer import tokenize_line

_PIECE_BYTES = 1 << 18  # bytes processed at once: their arrays stay in the processor's cache


class LineTokenizer:
    """Normalises and tokenises lines of one language.

    Blocks are whole lines, each with its line feed. The result has the same number of lines in the same
    order. The lines must be UTF-8 that Perl can read (see `perl_utf8`).

    Args:
        language: language code, as in the scripts: "en", "de", "fr", … For a language without rules of its
            own, the scripts' common rules and the non-breaking prefixes of English are used.
        lower_case: converts words to lower case. The scripts do not have this step.
        perl: the version of Perl to emulate; the published corpus was made with "5.14".

    Raises:
        ValueError: there are no tables of that version of Perl.
    """

    def __init__(self, language: str = "en", lower_case: bool = False, perl: str = CURRENT_PERL):
        self._language = language
        self._lower_case = lower_case
        self._perl = perl
        self._tokenizer = BlockTokenizer(language, perl)

    def __call__(self, block: bytes) -> bytes:
        """Returns the block, normalised and tokenised."""
        pieces = map(self.normalize, cut_block(block, _PIECE_BYTES))
        return b"".join(map(self.tokenize, pieces))

    def normalize(self, block: bytes) -> bytes:
        """Normalises the punctuation of a block, like normalize-punctuation.perl.

        Raises:
            ValueError: a line is malformed UTF-8.
        """
        text = frame(block)
        line_feeds = line_feeds_in(text)
        chosen = lines_to_normalize(text, line_feeds, self._language)
        lines = self._normalize_lines(take_lines(text, line_feeds, chosen))
        return unframe(put_lines(text, line_feeds, chosen, lines))

    def tokenize(self, block: bytes) -> bytes:
        """Tokenises a block like tokenizer.perl, and converts it to lower case if `lower_case` is set.

        Raises:
            ValueError: a line is malformed UTF-8.
        """
        text = frame(block)
        words = self._tokenizer.tokenize_ascii(text)
        result = words.codes.tobytes()
        if words.doubtful:
            lines = self._tokenize_lines(take_lines(text, line_feeds_in(text), words.doubtful))
            result = put_lines(result, line_feeds_in(result), words.doubtful, lines)
        return unframe(result.lower() if self._lower_case else result)

    def _normalize_lines(self, lines: Sequence[bytes]) -> list[bytes]:
        # Processed separately: a single character beyond ASCII needs all rules, and makes Python's string
        # wider.
        return _apart(lines, self._normalize_together, self._normalize_together)

    def _normalize_together(self, lines: Sequence[bytes]) -> list[bytes]:
        try:
            text = block_of(lines).decode()
        except UnicodeDecodeError:
            return _on_each(self._normalize_line, lines)
        return lines_of(normalize_text(text, self._language, self._perl).encode())

    def _tokenize_lines(self, lines: Sequence[bytes]) -> list[bytes]:
        return _apart(lines, self._tokenize_each, self._tokenize_together)

    def _tokenize_together(self, lines: Sequence[bytes]) -> list[bytes]:
        try:
            text = frame(block_of(lines)).decode()
        except UnicodeDecodeError:
            return self._tokenize_each(lines)
        words = self._tokenizer.tokenize_text(text)
        result = lines_of(unframe(self._lower(words.codes.tobytes().decode("utf-32-le")).encode()))
        exact = self._tokenize_each([lines[index] for index in words.doubtful])
        for index, line in zip(words.doubtful, exact, strict=True):
            result[index] = line
        return result

    def _tokenize_each(self, lines: Sequence[bytes]) -> list[bytes]:
        return _on_each(self._tokenize_line, lines)

    def _normalize_line(self, line: str) -> str:
        return normalize_line(line, self._language, self._perl)

    def _tokenize_line(self, line: str) -> str:
        return self._lower(tokenize_line(line, self._language, self._perl))

    def _lower(self, text: str) -> str:
        return text.lower() if self._lower_case else text


def _apart(
    lines: Sequence[bytes],
    change_ascii: Callable[[Sequence[bytes]], Sequence[bytes]],
    change_others: Callable[[Sequence[bytes]], Sequence[bytes]],
) -> list[bytes]:
    """Applies one function to ASCII lines and another function to all other lines.

    Returns all changed lines in the original order.
    """
    is_ascii = list(map(bytes.isascii, lines))
    plain = iter(change_ascii(list(itertools.compress(lines, is_ascii))))
    others = iter(change_others(list(itertools.compress(lines, map(operator.not_, is_ascii)))))
    return [next(plain if is_plain else others) for is_plain in is_ascii]


def _on_each(change: Callable[[str], str], lines: Sequence[bytes]) -> list[bytes]:
    return [
        line_blocks.encode(change(text), stand_ins)
        for text, stand_ins in map(line_blocks.decode, lines)
    ]
