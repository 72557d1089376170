"""The messages and methods of a master, from the descriptors in the package.

The descriptors have their own pool and need no generated code. Any protobuf from 3.21 on reads them,
and a program may use its own generated modules of tidemark.v1 at the same time (ADR 31).
"""

from __future__ import annotations

import functools
import importlib.resources
from typing import Any

import grpc
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.message import DecodeError

_pool = descriptor_pool.DescriptorPool()
for _file in descriptor_pb2.FileDescriptorSet.FromString(
    importlib.resources.files("tidemark").joinpath("_wire.binpb").read_bytes()
).file:
    _pool.AddSerializedFile(_file.SerializeToString())

_service = _pool.FindServiceByName("tidemark.v1.JobService")


def message(name: str) -> Any:
    """Returns the class of a message, such as tidemark.v1.Snapshot."""
    descriptor = _pool.FindMessageTypeByName(name)
    if hasattr(message_factory, "GetMessageClass"):
        return message_factory.GetMessageClass(descriptor)
    return _factory().GetPrototype(descriptor)  # Used before version 4.22, such as in Debian 12.


@functools.lru_cache(maxsize=None)
def _factory() -> Any:
    return message_factory.MessageFactory(_pool)


def request(method: str, **fields: Any) -> Any:
    """Returns a request of a method of JobService. Fields with the value None remain unset."""
    present = {name: value for name, value in fields.items() if value is not None}
    return message(_service.methods_by_name[method].input_type.full_name)(**present)


def methods(channel: grpc.Channel) -> dict[str, Any]:
    """Returns callables for the methods of JobService, by name."""
    found = {}
    for method in _service.methods:
        callable_of = channel.unary_stream if method.server_streaming else channel.unary_unary
        found[method.name] = callable_of(
            f"/{_service.full_name}/{method.name}",
            request_serializer=lambda request: request.SerializeToString(),
            response_deserializer=message(method.output_type.full_name).FromString,
        )
    return found


def retry_after_s(error: Any) -> float:
    """Returns the delay before the next call that the master requests, in seconds, or 0."""
    for key, value in error.trailing_metadata() or ():
        if key != "grpc-status-details-bin":
            continue
        try:
            for detail in message("tidemark.rpc.v1.Status").FromString(value).details:
                if detail.type_url.endswith("/google.rpc.RetryInfo"):
                    info = message("tidemark.rpc.v1.RetryInfo").FromString(detail.value)
                    return max(float(info.retry_delay.seconds + info.retry_delay.nanos / 1e9), 0.0)
        except DecodeError:
            break
    return 0.0
