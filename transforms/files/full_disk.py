"""A disk that takes no more, as its errors say it."""

import errno

NUMBERS = (errno.ENOSPC, errno.EDQUOT)
TEXTS = r"No space left on device|Disk quota exceeded"  # of workers' errors, only a traceback comes
