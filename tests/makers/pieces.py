"""A stream that gives less than it is asked for, as sockets and decompressors do."""

import io


class Pieces(io.BytesIO):
    """Gives the pieces one by one, whatever is asked for."""

    def __init__(self, pieces: list[bytes]):
        super().__init__()
        self._pieces = iter(pieces)
        self._held = b""

    def read(self, size: int | None = -1, /) -> bytes:
        held = self._held or next(self._pieces, b"")
        cut = len(held) if size is None or size < 0 else size
        self._held = held[cut:]
        return held[:cut]
