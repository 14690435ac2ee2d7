"""All that reaches into Beam, where it has no setting for what is needed here: each patch with its reason.

Written for Beam 2.77. For each there is a test that fails when Beam does not need it any more
(tests/pipelines/engines/test_beam_patches.py). What reaches into Beam's stores is in
transforms/files/beam_stores.py.
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
from apache_beam.options.pipeline_options import (
    GoogleCloudOptions,
    PipelineOptions,
    _BeamArgumentParser,
)
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
from apache_beam.transforms import core, userstate
from apache_beam.utils.thread_pool_executor import shared_unbounded_instance

from pipelines.engines.secret import LOOPBACK, guarded_server, make_secret, open_channel

# Flags are parsed once.


class Options(PipelineOptions):
    """Beam's options, of which each view is made once.

    Beam asks for a view with every transform that it adds or runs, a thousand times a pipeline, and parses
    all flags again for each: a quarter of the time of a small build.
    """

    def view_as(self, cls: Any) -> Any:
        """As PipelineOptions has it. All views, old ones too, share one set of values."""
        views = self.__dict__.setdefault("_views", {})
        if cls not in views:
            views[cls] = super().view_as(cls)
        return views[cls]

    def __getstate__(self) -> dict[str, Any]:
        """As PipelineOptions has it. A copy makes views of its own, which share its values."""
        return {name: value for name, value in super().__getstate__().items() if name != "_views"}


# Flags that Beam does not know are found.


def unknown_flags(flags: Sequence[str]) -> list[str]:
    """Flags that none of Beam's options take. Beam itself logs a warning and goes on."""
    parser = _BeamArgumentParser(allow_abbrev=False, add_help=False)
    for subclass in _all_subclasses(PipelineOptions).values():
        subclass._add_argparse_args(parser)
    unknown: list[str] = parser.parse_known_args(list(flags))[1]
    return unknown


def _all_subclasses(base: type) -> dict[str, Any]:
    """Name → class: one that a module has made twice counts once."""
    found: dict[str, Any] = {}
    direct: list[type] = base.__subclasses__()
    for subclass in direct:
        found = {subclass.__qualname__: subclass} | _all_subclasses(subclass) | found
    return found


# Signatures are looked at once.

Signature = tuple[list[str], list[Any]]  # names of the arguments, values of the defaults
Specs = tuple[set[userstate.StateSpec], set[userstate.TimerSpec]]


def remember_signatures() -> None:
    """Lets Beam look once in this process into each function, and for state into each class of DoFn.

    With every step that it adds or runs, Beam looks for state and timers in the signatures of all methods of
    the step's DoFn, those that each DoFn inherits too: forty thousand times in a small build, of which they
    are more than a third of the time.
    """
    if not hasattr(core.get_function_args_defaults, "__wrapped__"):
        core.get_function_args_defaults = remembered(core.get_function_args_defaults)
        userstate.get_dofn_specs = remembered_specs(userstate.get_dofn_specs)


def remembered_specs(look: Callable[[Any], Specs]) -> Callable[[Any], Specs]:
    """Takes and gives what `look` does, and remembers it for the class of the DoFn."""
    known: weakref.WeakKeyDictionary[type, Specs] = weakref.WeakKeyDictionary()

    @functools.wraps(look)
    def look_once(dofn: Any) -> Specs:
        if any(isinstance(value, types.MethodType) for value in vars(dofn).values()):
            return look(dofn)  # a method that the DoFn has, and its class has not
        if type(dofn) not in known:
            known[type(dofn)] = look(dofn)
        states, timers = known[type(dofn)]
        return {*states}, {*timers}

    return look_once


def remembered(look: Callable[[Any], Signature]) -> Callable[[Any], Signature]:
    """Takes and gives what `look` does, and remembers it while the function that was looked at is there."""
    known: tuple[weakref.WeakKeyDictionary[Any, Signature], ...] = (
        weakref.WeakKeyDictionary(),  # of functions
        weakref.WeakKeyDictionary(),  # of functions that are bound to an object, which is no argument
    )

    @functools.wraps(look)
    def look_once(asked: Any) -> Signature:
        is_method = inspect.ismethod(asked)
        function = asked.__func__ if is_method else asked
        if not inspect.isfunction(function):  # what is callable otherwise may change
            return look(asked)
        if function not in known[is_method]:
            known[is_method][function] = look(asked)
        arguments, defaults = known[is_method][function]
        return [*arguments], [*defaults]

    return look_once


# Servers of the in-process runner ask for a secret, and workers show it.

_OPTIONS = [
    ("grpc.max_receive_message_length", -1),  # the size is bounded where messages are made
    ("grpc.max_send_message_length", -1),
    ("grpc.http2.max_ping_strikes", 0),  # a worker that is busy pings without data
    ("grpc.http2.min_ping_interval_without_data_ms", 20_000),  # the keepalive of Beam's channels
]


class LoopbackServer(GrpcServer):
    """Beam's GrpcServer, but for where it listens, and to whom it answers.

    Beam's (2.77) opens four ports on all interfaces, and takes every caller for a worker that it names. Files
    of a job are not offered: workers are forks of a process that has them.
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
        # Channels to one port share a connection: each of these services gets its own.
        ports = [server.add_insecure_port(f"{LOOPBACK}:0") for _ in range(4)]
        self.control_port, self.data_port, self.state_port, self.logging_port = ports
        self.control_server = self.data_server = self.state_server = self.logging_server = server
        server.start()


_guarded: set[str] = set()  # environments by their URN


def guard_environment(urn: str) -> None:
    """Lets Beam's in-process runner serve the workers of an environment by a LoopbackServer."""
    _guarded.add(urn)
    worker_handlers.GrpcServer = _make_server


def _make_server(state: Any, provision_info: Any, manager: Any) -> GrpcServer:
    """Other environments get Beam's own server: their workers know no secret."""
    urns = {environment.urn for environment in manager._environments.values()}
    return (LoopbackServer if urns & _guarded else GrpcServer)(state, provision_info, manager)


def show_in_all_channels(secret: str) -> None:
    """Lets Beam's worker, which this process is, show the secret in all channels that it opens."""

    def insecure_channel(target: str, options: Sequence[Any] | None = None) -> grpc.Channel:
        return open_channel(target, secret, [*(options or ()), *GRPCChannelFactory.DEFAULT_OPTIONS])

    GRPCChannelFactory.insecure_channel = staticmethod(insecure_channel)


# A worker that is lost ends the build, with an error that says so.


class _Control(ControlConnection):
    """Beam's ControlConnection, whose thread ends without a traceback when a worker is killed."""

    def _read(self) -> None:
        with contextlib.suppress(grpc.RpcError):
            super()._read()


class _Data(_GrpcDataChannel):
    """Beam's data channel, but for the loss of the worker, of which `fail_requests` says more.

    Beam's (2.77) would raise "Channel closed prematurely" before that is called, print a traceback, and let
    who sends to the worker wait for ever as soon as 100 MB wait with it.
    """

    def __init__(self) -> None:
        super().__init__(DATA_BUFFER_TIME_LIMIT_MS)

    def _read_inputs(self, elements: Iterator[Any]) -> None:
        super()._read_inputs(self._until_closed(elements))

    def _until_closed(self, elements: Iterator[Any]) -> Iterator[Any]:
        with contextlib.suppress(grpc.RpcError):
            yield from elements
        for _ in self._write_outputs():  # until `close`: nobody else takes what is sent
            pass

    def close(self) -> None:
        """As DataChannel has it."""
        super().close()
        self._to_send.put(self._WRITES_FINISHED, 0)  # the thread of the connection may take one


def fail_requests(connection: Any, error: Exception) -> None:
    """Ends all requests to a worker with an error, those that wait and those to come.

    Beam's in-process runner would wait for ever for the answers of a worker that never connects.

    Args:
      connection: ControlConnection of the worker.
    """
    send = connection.push

    def push(request: Any) -> Any:
        future = send(request)
        if future:
            _fail(future, error)
        return future

    connection.push = push
    for future in list(connection._futures_by_id.values()):
        _fail(future, error)


def _fail(future: Any, error: Exception) -> None:
    """Gives an answer, too: who waits for data looks whether there is one. Who asks for it gets the error."""
    future.abort(error)
    future.set(fn_api.InstructionResponse(instruction_id=future.instruction_id, error=str(error)))


# What travels between steps waits in files, and is sent as fast as it is taken.

_SizeBasedStream = data_plane.SizeBasedBufferingClosableOutputStream

QUEUED_BYTES = 1 << 22
"""That wait in one direction between the runner and a worker. Beam (2.77) lets 100 MB wait, in each of three
queues."""

MESSAGE_BYTES = 1 << 20
"""From which on a message is sent: Beam (2.77) waits for 10 MB, and has several copies of a message."""


def bound_queues() -> None:
    """Has messages of MESSAGE_BYTES, of which QUEUED_BYTES wait for and from the other side.

    Counts for channels and streams that are opened later.
    """
    data_plane._DEFAULT_SEND_QUEUE_MAX_BYTES = QUEUED_BYTES
    data_plane._DEFAULT_SIZE_FLUSH_THRESHOLD = MESSAGE_BYTES
    data_plane.SizeBasedBufferingClosableOutputStream = functools.partial(
        _SizeBasedStream, size_flush_threshold=MESSAGE_BYTES
    )


def keep_in_buffers(list_buffer: type, grouping_buffer: type, channel: type) -> None:
    """Has Beam's in-process runner keep what travels between steps in such buffers, and send it in pieces.

    Beam (2.77) has all of it in memory, makes one message for each worker of its part, and sends it before it
    lets the worker begin.

    Args:
      list_buffer, grouping_buffer: in place of ListBuffer and GroupingBuffer.
      channel: in place of InMemoryDataChannel, for a worker in the same process.
    """
    for module in (fn_runner, execution):
        module.ListBuffer = list_buffer
    execution.GroupingBuffer = grouping_buffer
    data_plane.InMemoryDataChannel = channel
    fn_runner.BundleManager._send_input_to_worker = _send_input


def _send_input(self: Any, process_bundle_id: str, transform_id: str, encoded: Any) -> None:
    """Of BundleManager. A worker in another process begins while this is sent.

    Beam's streams are not used for it: a thread of theirs empties them each second, and loses what is written
    while it waits for a queue that is full.
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


# Active jobs of Dataflow are found.


def active_job(options: PipelineOptions, name: str) -> str:
    """The id of the active job of that name, "" without one. Needs the libraries of Google Cloud.

    Beam's own look-up (job_id_for_name) passes over jobs that wait for their workers, and where no job runs
    it asks for ever. So Beam's client is asked, which will start the jobs: what it may do, they can count on.
    """
    from apache_beam.runners.dataflow.internal.apiclient import DataflowApplicationClient
    from google.cloud import dataflow  # type: ignore[import-untyped]

    cloud = options.view_as(GoogleCloudOptions)
    request = dataflow.ListJobsRequest(
        project_id=cloud.project,
        location=cloud.region,
        filter=dataflow.ListJobsRequest.Filter.ACTIVE,
        name=name,
    )
    jobs = DataflowApplicationClient(options)._jobs_client.list_jobs(request=request)
    return next((str(job.id) for job in jobs if job.name == name), "")
