"""Error numbers and messages of a full disk."""

import errno

NUMBERS = (errno.ENOSPC, errno.EDQUOT)
TEXTS = r"No space left on device|Disk quota exceeded"  # errors of workers arrive as tracebacks
