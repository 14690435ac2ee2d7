"""Computes the random numbers of `split-input-data.perl`. Any part of them can be computed directly.

The generator is a xorshift generator with four signed words of 64 bits. Right shifts keep the sign, as in
Perl under `use integer`. A step of the generator consists of shifts and XORs, which are linear. So a step is
a 256 × 256 matrix over the field of two elements, 2**k steps are a power of this matrix, and a value can be
computed without those before it. A matrix is stored as a table: for each position of a byte in the state, and
each value of the byte, it has the product of this byte and the matrix.

No value of the generator is negative. A value is the XOR of `w ^ (w >> 19)` and `t ^ (t >> 8)`, where w is a
word of the state and t is computed from another one. In both terms, the sign bit is 0.
"""

import functools

import numpy as np
import numpy.typing as npt

Values = npt.NDArray[np.int64]
_States = npt.NDArray[np.int64]  # rows of x, y, z, w
_Power = npt.NDArray[np.int64]  # [position in a state, byte] → product of this byte and the matrix

_SEED = np.array([[123456789, 362436069, 521288629, 0]], np.int64)  # the script sets w to 0
_BYTES = _SEED.nbytes
_BITS = 8 * _BYTES


def values(start: int, count: int) -> Values:
    """Returns the values `start` to `start + count - 1` of the generator, counted from 0.

    The values are divided into consecutive parts of equal length. One copy of the generator computes each
    part, and NumPy advances all copies at once.
    """
    if start < 0 or count < 0:
        raise ValueError(f"start is {start}, count is {count}; neither may be negative")
    if count == 0:
        return np.empty(0, np.int64)
    stretch_log = (count.bit_length() - 1) // 2
    stretch = 1 << stretch_log
    lanes = -(-count // stretch)
    x, y, z, w = _spread(_jump(start), stretch_log, lanes).T.copy()
    rows = np.empty((stretch, lanes), np.int64)
    shifted = np.empty(lanes, np.int64)
    for row in rows:
        np.left_shift(x, 11, out=shifted)
        x ^= shifted  # t
        np.right_shift(x, 8, out=shifted)
        x ^= shifted
        np.right_shift(w, 19, out=shifted)
        x ^= shifted
        x ^= w
        row[:] = x
        x, y, z, w = y, z, w, x
    return rows.T.ravel()[:count]


def _jump(steps: int) -> _States:
    """Returns the state of the generator `steps` steps after its seed, as an array with one row."""
    state = _SEED
    for exponent in range(steps.bit_length()):
        if steps >> exponent & 1:
            state = _multiply(state, _power(exponent))
    return state


def _spread(state: _States, stretch_log: int, lanes: int) -> _States:
    """Returns `lanes` states, each 2**stretch_log steps after the one before. The first is `state`."""
    exponent = stretch_log
    while len(state) < lanes:
        state = np.concatenate([state, _multiply(state, _power(exponent))])
        exponent += 1
    return state[:lanes]


@functools.cache
def _power(exponent: int) -> _Power:
    """Returns the lookup table of the matrix that advances the generator by 2**exponent steps.

    The table has the product of this matrix and each value of each byte of a state (see `_multiply`).
    """
    if exponent:
        half = _power(exponent - 1)
        return _tabulate(_multiply(_multiply(_single_bits(), half), half))
    x, y, z, w = _single_bits().T
    t = x ^ (x << 11)
    return _tabulate(np.stack([y, z, w, (w ^ (w >> 19)) ^ (t ^ (t >> 8))], axis=1))


def _single_bits() -> _States:
    """Returns the 256 states of the generator in which a single bit is set.

    They are sorted by the byte with this bit, and then by the bit, beginning with the lowest.
    """
    octets = np.zeros((_BITS, _BYTES), np.uint8)
    bits = np.arange(_BITS)
    octets[bits, bits // 8] = 1 << bits % 8
    return octets.view(np.int64)


def _tabulate(images: _States) -> _Power:
    """Returns the lookup table of a matrix: its product with each value of each byte of a state.

    Args:
      images: the product of the matrix and each state of `_single_bits`.
    """
    of_bits = images.reshape(_BYTES, 8, 4)
    table = np.zeros((_BYTES, 1, 4), np.int64)
    for bit in range(8):
        table = np.concatenate([table, table ^ of_bits[:, bit : bit + 1]], axis=1)
    return table


def _multiply(states: _States, power: _Power) -> _States:
    """Multiplies states of the generator by a matrix. Returns the products.

    The product of a state is the sum (XOR) of the products of its bytes, which are looked up in a table.

    Args:
      states: the states, one per row.
      power: the lookup table of the matrix, as returned by `_tabulate`.
    """
    octets = np.ascontiguousarray(states).view(np.uint8)
    result = np.zeros_like(states)
    for place, table in enumerate(power):
        result ^= table[octets[:, place]]
    return result
