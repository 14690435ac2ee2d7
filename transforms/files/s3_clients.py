"""Clients of S3 that are kept: Beam makes a new one for every call, which takes a third of a second."""

import functools
import os
import threading
import types
from typing import Any

_lock = threading.Lock()  # clients may be shared by threads, but not made by several at once


def keep_clients() -> None:
    """Lets Beam's file system of S3 make one client a process. Does nothing where boto3 is not installed."""
    try:
        import boto3
        from apache_beam.io.aws.clients.s3 import boto3_client
        from botocore.exceptions import NoCredentialsError
    except ImportError:
        return

    @functools.lru_cache(maxsize=8)
    def kept(environment: frozenset[tuple[str, str]], process: int, **settings: Any) -> Any:
        session = boto3.session.Session()
        # Beam would ask again and again for ten minutes.
        if not settings.get("aws_access_key_id") and not session.get_credentials():
            raise NoCredentialsError
        return session.client(**settings)

    class KeptSession:
        """What Beam asks for clients."""

        def client(self, **settings: Any) -> Any:
            environment = {one for one in os.environ.items() if one[0].startswith("AWS_")}
            with _lock:
                return kept(frozenset(environment), os.getpid(), **settings)

    boto3_client.boto3 = types.SimpleNamespace(session=types.SimpleNamespace(Session=KeptSession))
