"""All patches to Beam. They change behaviour for which Beam has no setting. Each patch states its reason.

The patches are written for Beam 2.77. Each has a test that fails when Beam no longer needs it
(tests/pipelines/run/engines/test_beam_patches.py). Patches to Beam's object stores are in
stores.py.
"""

import contextlib
import functools
import inspect
import threading
import types
import weakref
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import grpc
from apache_beam.options import pipeline_options
from apache_beam.portability.api import beam_fn_api_pb2 as fn_api
from apache_beam.portability.api import beam_fn_api_pb2_grpc as fn_api_grpc
from apache_beam.portability.api import beam_provision_api_pb2_grpc as provision_grpc
from apache_beam.runners.portability.fn_api_runner import execution, fn_runner, worker_handlers
from apache_beam.runners.portability.fn_api_runner.worker_handlers import (
    DATA_BUFFER_TIME_LIMIT_MS,
    BasicLoggingService,
    BasicProvisionService,
    BeamFnControlServicer,
    ControlConnection,
    GrpcServer,
    GrpcStateServicer,
)
from apache_beam.runners.worker import data_plane
from apache_beam.runners.worker.channel_factory import GRPCChannelFactory
from apache_beam.runners.worker.data_plane import BeamFnDataServicer, _GrpcDataChannel
from apache_beam.runners.worker.statesampler import StateSampler
from apache_beam.transforms import core, userstate
from apache_beam.utils.thread_pool_executor import shared_unbounded_instance

from .worker_processes import LOOPBACK, guarded_server, make_secret, open_channel

# Flags are parsed once.


class Options(pipeline_options.PipelineOptions):
    """Beam's pipeline options, with the patch that each view of them is created only once.

    Beam requests a view for every transform that it adds or runs, a thousand times per pipeline. Without
    this patch, Beam parses all flags each time, which takes a quarter of the time of a small build.
    """

    def view_as(self, cls: Any) -> Any:
        """Returns a view (see PipelineOptions.view_as). Calls with the same class return the same view."""
        views = self.__dict__.setdefault("_views", {})
        if cls not in views:
            views[cls] = super().view_as(cls)
        return views[cls]

    def __getstate__(self) -> dict[str, Any]:
        """Returns the state for pickling, without the views. A copy that is unpickled creates new views."""
        return {name: value for name, value in super().__getstate__().items() if name != "_views"}


# Unknown flags are found.


def unknown_flags(flags: Sequence[str]) -> list[str]:
    """Returns the flags that Beam does not define. Beam would only log a warning about them and continue."""
    parser = pipeline_options._BeamArgumentParser(allow_abbrev=False, add_help=False)
    for subclass in _all_subclasses(pipeline_options.PipelineOptions).values():
        subclass._add_argparse_args(parser)
    return list(parser.parse_known_args(list(flags))[1])


def _all_subclasses(base: type) -> dict[str, Any]:
    """Returns name → class for all subclasses of `base`. If some have the same name, only one is listed."""
    found: dict[str, Any] = {}
    direct: list[type] = base.__subclasses__()
    for subclass in direct:
        found = {subclass.__qualname__: subclass} | _all_subclasses(subclass) | found
    return found


# Signatures are inspected only once.

Signature = tuple[list[str], list[Any]]  # names of the arguments, values of the defaults
Specs = tuple[set[userstate.StateSpec], set[userstate.TimerSpec]]


def remember_signatures() -> None:
    """Makes Beam inspect each function and each DoFn class only once in this process.

    Without this patch, Beam repeats the inspection for every step that it adds or runs: it searches the
    signatures of all methods of the step's DoFn, including inherited ones, for state and timers. In a small
    build it does so forty thousand times, which takes more than a third of the time.
    """
    if not hasattr(core.get_function_args_defaults, "__wrapped__"):
        core.get_function_args_defaults = remembered(core.get_function_args_defaults)
        userstate.get_dofn_specs = remembered_specs(userstate.get_dofn_specs)


def remembered_specs(look: Callable[[Any], Specs]) -> Callable[[Any], Specs]:
    """Returns the function `look` with a cache. Its result for a DoFn depends only on the class of the DoFn.

    Args:
      look: Function that returns the state and timer specifications of a DoFn.
    """
    known: weakref.WeakKeyDictionary[type, Specs] = weakref.WeakKeyDictionary()

    @functools.wraps(look)
    def look_once(dofn: Any) -> Specs:
        if any(isinstance(value, types.MethodType) for value in vars(dofn).values()):
            return look(dofn)  # the object has a method that its class does not have
        if type(dofn) not in known:
            known[type(dofn)] = look(dofn)
        states, timers = known[type(dofn)]
        return {*states}, {*timers}

    return look_once


def remembered(look: Callable[[Any], Signature]) -> Callable[[Any], Signature]:
    """Returns the function `look` with a cache, which does not keep the inspected functions alive.

    Args:
      look: Function that returns the signature of a function.
    """
    known: tuple[weakref.WeakKeyDictionary[Any, Signature], ...] = (
        weakref.WeakKeyDictionary(),  # of functions
        weakref.WeakKeyDictionary(),  # of bound methods, whose object is not an argument
    )

    @functools.wraps(look)
    def look_once(asked: Any) -> Signature:
        is_method = inspect.ismethod(asked)
        function = asked.__func__ if is_method else asked
        if not inspect.isfunction(function):  # other callables may change
            return look(asked)
        if function not in known[is_method]:
            known[is_method][function] = look(asked)
        arguments, defaults = known[is_method][function]
        return [*arguments], [*defaults]

    return look_once


# Servers of the in-process runner require a secret, which workers send.

_OPTIONS = [
    ("grpc.max_receive_message_length", -1),  # no limit here: senders limit the size of messages
    ("grpc.max_send_message_length", -1),
    ("grpc.http2.max_ping_strikes", 0),  # a worker that is busy pings without data
    ("grpc.http2.min_ping_interval_without_data_ms", 20_000),  # the keepalive of Beam's channels
]


class LoopbackServer(GrpcServer):
    """Beam's GrpcServer, with the patch that it listens only on the loopback interface, and answers only
    calls with its secret.

    Beam's server (2.77) opens four ports on all interfaces, and accepts every caller as a worker. This server
    has no service for the files of the job, because workers are forks of a process that already has
    these files.
    """

    def __init__(self, state: Any, provision_info: Any, worker_manager: Any):
        self.secret = make_secret()
        self.state, self.provision_info = state, provision_info
        self.control_handler = BeamFnControlServicer(worker_manager)
        self.control_handler._connections_by_worker_id = defaultdict(_Control)
        self.data_plane_handler = BeamFnDataServicer()
        self.data_plane_handler._connections_by_worker_id = defaultdict(_Data)
        provision = BasicProvisionService(provision_info.provision_info, worker_manager)
        server = guarded_server(shared_unbounded_instance(), self.secret, _OPTIONS)
        fn_api_grpc.add_BeamFnControlServicer_to_server(self.control_handler, server)
        fn_api_grpc.add_BeamFnDataServicer_to_server(self.data_plane_handler, server)
        fn_api_grpc.add_BeamFnStateServicer_to_server(GrpcStateServicer(state), server)
        fn_api_grpc.add_BeamFnLoggingServicer_to_server(BasicLoggingService(), server)
        provision_grpc.add_ProvisionServiceServicer_to_server(provision, server)
        # Channels to the same port share a connection. So each service has its own port, and its own
        # connection.
        ports = [server.add_insecure_port(f"{LOOPBACK}:0") for _ in range(4)]
        self.control_port, self.data_port, self.state_port, self.logging_port = ports
        self.control_server = self.data_server = self.state_server = self.logging_server = server
        server.start()


_guarded: set[str] = set()  # URNs of the environments whose workers send the secret


def guard_environment(urn: str) -> None:
    """Makes Beam's in-process runner talk to the workers of an environment through a LoopbackServer.

    Beam's own server accepts connections from other machines. A LoopbackServer only accepts connections from
    this machine, from workers that send its secret.

    Args:
      urn: The URN of the environment.
    """
    _guarded.add(urn)
    worker_handlers.GrpcServer = _make_server


def _make_server(state: Any, provision_info: Any, manager: Any) -> GrpcServer:
    """Returns a new server for the workers of an environment of Beam's in-process runner.

    It is a LoopbackServer if `guard_environment` was called for the environment. Otherwise, it is Beam's own
    server, because the workers have no secret. The arguments are those of Beam's GrpcServer.
    """
    urns = {environment.urn for environment in manager._environments.values()}
    return (LoopbackServer if urns & _guarded else GrpcServer)(state, provision_info, manager)


def show_in_all_channels(secret: str) -> None:
    """Makes this process, a worker of Beam, send the runner's secret on all gRPC channels that it opens."""

    def insecure_channel(target: str, options: Sequence[Any] | None = None) -> grpc.Channel:
        return open_channel(target, secret, [*(options or ()), *GRPCChannelFactory.DEFAULT_OPTIONS])

    GRPCChannelFactory.insecure_channel = staticmethod(insecure_channel)


# The loss of a worker ends the build with an error that names it.


class _Control(ControlConnection):
    """Beam's ControlConnection, with the patch that its thread prints no traceback when a
    worker is killed.
    """

    def _read(self) -> None:
        with contextlib.suppress(grpc.RpcError):
            super()._read()


class _Data(_GrpcDataChannel):
    """Beam's data channel, with the patch that the loss of a worker raises no error in the channel.

    Beam's channel (2.77) raises "Channel closed prematurely", prints a traceback, and blocks the sender for
    ever when 100 MB are queued for the worker. `fail_requests` raises a better error.
    """

    def __init__(self) -> None:
        super().__init__(DATA_BUFFER_TIME_LIMIT_MS)

    def _read_inputs(self, elements: Iterator[Any]) -> None:
        super()._read_inputs(self._until_closed(elements))

    def _until_closed(self, elements: Iterator[Any]) -> Iterator[Any]:
        with contextlib.suppress(grpc.RpcError):
            yield from elements
        for _ in self._write_outputs():  # until `close`: discards what is sent
            pass

    def close(self) -> None:
        """Closes the channel (see DataChannel)."""
        super().close()
        self._to_send.put(self._WRITES_FINISHED, 0)  # the connection may take the first marker


def fail_requests(connection: Any, error: Exception) -> None:
    """Makes all current and future requests to a worker fail with an error.

    Otherwise, Beam's in-process runner would wait for ever for a worker that never connects.

    Args:
      connection: The ControlConnection of the worker.
      error: The error to raise.
    """
    send = connection.push

    def push(request: Any) -> Any:
        if future := send(request):
            _fail(future, error)
        return future

    connection.push = push
    for future in list(connection._futures_by_id.values()):
        _fail(future, error)


def _fail(future: Any, error: Exception) -> None:
    """Makes a request fail with an error. Also sets its response, because readers of data wait for one."""
    future.abort(error)
    future.set(fn_api.InstructionResponse(instruction_id=future.instruction_id, error=str(error)))


# Data between steps is kept in files, and is sent at the speed of the receiver.

_SizeBasedStream = data_plane.SizeBasedBufferingClosableOutputStream

QUEUED_BYTES = 1 << 22
"""Maximum number of bytes that are queued in one direction between the runner and a worker. In Beam (2.77),
it is 100 MB in each of three queues.
"""

MESSAGE_BYTES = 1 << 20
"""A message is sent when it has at least this number of bytes. Beam (2.77) collects 10 MB, and keeps several
copies of a message in memory.
"""


def bound_queues() -> None:
    """Limits messages between the runner and workers to MESSAGE_BYTES, and queues to QUEUED_BYTES per
    direction.

    This applies to channels and streams that are opened later.
    """
    data_plane._DEFAULT_SEND_QUEUE_MAX_BYTES = QUEUED_BYTES
    data_plane._DEFAULT_SIZE_FLUSH_THRESHOLD = MESSAGE_BYTES
    data_plane.SizeBasedBufferingClosableOutputStream = functools.partial(
        _SizeBasedStream, size_flush_threshold=MESSAGE_BYTES
    )


def keep_in_buffers(list_buffer: type, grouping_buffer: type, channel: type) -> None:
    """Makes Beam's in-process runner store the data between steps in other buffers, and send it in pieces.

    Beam (2.77) keeps all the data in memory, makes one message per worker, and sends the message before the
    worker begins.

    Args:
      list_buffer, grouping_buffer: The classes to use instead of ListBuffer and GroupingBuffer.
      channel: The class to use instead of InMemoryDataChannel, for a worker in the same process.
    """
    for module in (fn_runner, execution):
        module.ListBuffer = list_buffer
    execution.GroupingBuffer = grouping_buffer
    data_plane.InMemoryDataChannel = channel
    fn_runner.BundleManager._send_input_to_worker = _send_input


def _send_input(self: Any, process_bundle_id: str, transform_id: str, encoded: Any) -> None:
    """Sends input to a worker. Replaces BundleManager._send_input_to_worker.

    A worker in another process is already running while its input is sent. Beam's streams are not used for
    such a worker: the thread of a stream flushes every second, and loses data that is written while the
    thread waits for a full queue.

    Args:
      encoded: An iterable of byte strings with the encoded elements.
    """
    handler = self._worker_handler
    channel = handler.data_conn
    if not isinstance(handler, worker_handlers.GrpcWorkerHandler):
        out = channel.output_stream(process_bundle_id, transform_id)
        for piece in encoded or ():
            out.write(piece)
            out.maybe_flush()
        out.close()
        return
    message = functools.partial(
        fn_api.Elements.Data, instruction_id=process_bundle_id, transform_id=transform_id
    )

    def send() -> None:
        try:
            for piece in filter(None, encoded or ()):
                channel._enqueue_to_send(message(data=piece))
            channel._enqueue_to_send(message(is_last=True))
        except Exception as error:
            fail_requests(handler.control_conn, error)

    threading.Thread(target=send, daemon=True).start()


# Bundles end without waiting for the thread that samples the current step.

SAMPLING_MS = 5
"""Time between two samples of the current step, in milliseconds. In Beam (2.77), it grows up to 200."""


def sample_often() -> None:
    """Makes the end of a bundle wait at most SAMPLING_MS for Beam's StateSampler.

    Its thread sleeps between two samples, and the bundle ends when the thread wakes up. With Beam's setting,
    a bundle of a second waits for a tenth of its time, and a long one for up to 200 ms.
    """
    StateSampler.__init__.__defaults__ = (SAMPLING_MS,)


# Active Dataflow jobs are found.


def active_job(options: pipeline_options.PipelineOptions, name: str) -> str:
    """Returns the id of the active Dataflow job named `name`; "" if there is none.

    Requires the libraries of Google Cloud. Beam's own function (job_id_for_name) ignores jobs that wait for
    workers, and retries for ever if no job is running. This function uses Beam's client, and so the
    credentials of the build.
    """
    from apache_beam.runners.dataflow.internal.apiclient import DataflowApplicationClient
    from google.cloud import dataflow  # type: ignore[import-untyped]

    cloud = options.view_as(pipeline_options.GoogleCloudOptions)
    request = dataflow.ListJobsRequest(
        project_id=cloud.project,
        location=cloud.region,
        filter=dataflow.ListJobsRequest.Filter.ACTIVE,
        name=name,
    )
    jobs = DataflowApplicationClient(options)._jobs_client.list_jobs(request=request)
    return next((str(job.id) for job in jobs if job.name == name), "")
