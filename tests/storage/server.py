"""The servers of stores.py, which decide about conditional puts as the real stores do.

gcp-storage-emulator overlooks ifGenerationMatch; the server of moto compares, but another request may come
between that and the write.

    python -m tests.storage.server gs|s3 PORT
"""

import functools
import sys
import threading
from collections.abc import Callable
from http import HTTPStatus
from typing import Any

Handler = Callable[..., Any]


def serve_gs(port: int) -> None:
    """It serves one request at a time."""
    from gcp_storage_emulator.handlers import objects

    objects.insert = _comparing(objects.insert)
    objects.delete = _comparing(objects.delete)
    from gcp_storage_emulator.__main__ import (
        main,  # the server lists its handlers when it is imported
    )

    main(["start", "--host", "127.0.0.1", f"--port={port}", "--in-memory"])


def _comparing(handler: Handler) -> Handler:
    """A handler that looks at ifGenerationMatch first; 0 is for an object that must not be there."""

    @functools.wraps(handler)
    def handle(request: Any, response: Any, storage: Any, *others: Any, **named: Any) -> Any:
        (wanted,) = request.query.get("ifGenerationMatch", [None])
        if wanted is not None:
            sent = request.data  # what is not read would break the connection
            bucket, name = request.params["bucket_name"], request.params.get("object_id")
            name = name or request.query.get("name", [None])[0] or sent["meta"]["name"]
            found = storage.objects.get(bucket, {}).get(name, {"generation": "0"})
            if found["generation"] != wanted and bucket in storage.buckets:
                response.status = HTTPStatus.PRECONDITION_FAILED
                return response.json({"error": {"code": 412, "message": "conditionNotMet"}})
        return handler(request, response, storage, *others, **named)

    return handle


def serve_s3(port: int) -> None:
    """It writes one object at a time."""
    from moto.s3.responses import S3Response
    from moto.server import main

    put, alone = S3Response.put_object, threading.Lock()

    def put_alone(self: S3Response) -> Any:
        with alone:
            return put(self)

    S3Response.put_object = put_alone
    main(["-H", "127.0.0.1", "-p", str(port)])


if __name__ == "__main__":
    {"gs": serve_gs, "s3": serve_s3}[sys.argv[1]](int(sys.argv[2]))
