"""A minimal HTTP/2 client that can send invalid frames (RFC 9113) and headers (RFC 7541)."""

import socket
import ssl
import struct

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, RST_STREAM, SETTINGS, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = (
    0, 1, 3, 4, 6, 7, 8, 9)
END_STREAM, ACK, END_HEADERS = 1, 1, 4
STREAM_EVENTS = "/tidemark.v1.IngestService/StreamEvents"
GET_JOB = "/tidemark.v1.JobService/GetJob"


def frame(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + bytes((kind, flags)) + struct.pack(
        ">I", stream) + payload


def integer(value, bits, first=0):
    """Returns an encoded integer after the first bits of a byte."""
    most = (1 << bits) - 1
    if value < most:
        return bytes((first | value,))
    out = bytes((first | most,))
    value -= most
    while value >= 128:
        out += bytes((value % 128 | 128,))
        value //= 128
    return out + bytes((value,))


def literal(name, value, remember=False):
    """Returns an encoded header, which the server may store in its table."""
    return (b"\x40" if remember else b"\x00") + b"".join(
        integer(len(word), 7) + word for word in (name.encode(), value.encode()))


def request(path, token=None, remember=False):
    headers = [(":method", "POST"), (":scheme", "https"), (":authority", "master"),
               (":path", path), ("te", "trailers"), ("content-type", "application/grpc")]
    if token:
        headers.append(("authorization", "Bearer " + token))
    return b"".join(literal(name, value, remember) for name, value in headers)


def remembered(count=6):
    """Returns references to the stored headers of an earlier request."""
    return bytes(128 | (62 + i) for i in reversed(range(count)))


class Connection:
    """A TLS connection to the master, from any address of this host."""

    def __init__(self, address, ca, host="127.0.0.1", certificate=None, key=None, timeout=20):
        self.raw = socket.create_connection(address, timeout, (host, 0))
        self.raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        context = ssl.create_default_context(cafile=ca)
        context.set_alpn_protocols(["h2"])
        if certificate:
            context.load_cert_chain(certificate, key)
        self.socket = context.wrap_socket(self.raw, server_hostname="127.0.0.1")
        self.unread = b""

    def greet(self):
        self.send(PREFACE + frame(SETTINGS, 0, 0, struct.pack(">HI", 4, 1 << 24)) +
                  frame(WINDOW_UPDATE, 0, 0, struct.pack(">I", 1 << 24)))
        return self

    def send(self, data):
        self.socket.sendall(data)

    def read_frame(self):
        """Returns (kind, flags, stream, payload) of the next frame. Answers settings and pings."""
        header = self._read(9)
        length = int.from_bytes(header[:3], "big")
        kind, flags = header[3], header[4]
        stream = int.from_bytes(header[5:9], "big")
        payload = self._read(length)
        if kind == SETTINGS and not flags & ACK:
            self.send(frame(SETTINGS, ACK, 0))
        elif kind == PING and not flags & ACK:
            self.send(frame(PING, ACK, 0, payload))
        elif kind == DATA and payload:
            update = struct.pack(">I", len(payload))
            self.send(frame(WINDOW_UPDATE, 0, 0, update) +
                      frame(WINDOW_UPDATE, 0, stream, update))
        return kind, flags, stream, payload

    def _read(self, length):
        while len(self.unread) < length:
            more = self.socket.recv(1 << 16)
            if not more:
                raise ConnectionError("closed by the master")
            self.unread += more
        data, self.unread = self.unread[:length], self.unread[length:]
        return data

    def call(self, path, token, message=b"", stream=1):
        """Makes a call with one message and waits for its end."""
        self.send(frame(HEADERS, END_HEADERS, stream, request(path, token)) +
                  frame(DATA, END_STREAM, stream, grpc_message(message)))
        while True:
            kind, flags, of, _ = self.read_frame()
            if of == stream and kind == RST_STREAM:
                raise ConnectionError("the call was reset")
            if of == stream and kind == HEADERS and flags & END_STREAM:
                return

    def close(self):
        try:
            self.socket.close()
        except OSError:
            pass


def grpc_message(message):
    return b"\0" + struct.pack(">I", len(message)) + message


def varint(value):
    out = b""
    while value >= 128:
        out += bytes((value % 128 | 128,))
        value //= 128
    return out + bytes((value,))


def field(number, value):
    """Returns an encoded protobuf field: an integer, or bytes with their length."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    if isinstance(value, str):
        value = value.encode()
    return varint(number << 3 | 2) + varint(len(value)) + value


def fixed64(number, value):
    """Returns an encoded field of eight bytes."""
    return varint(number << 3 | 1) + struct.pack("<q", value)


def fields(message):
    """Yields (number, value) of each field of the kinds that field() encodes."""
    at = 0

    def number():
        nonlocal at
        value = shift = 0
        while True:
            byte = message[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(message):
        tag = number()
        value = number()
        if tag & 7 == 2:
            value, at = message[at:at + value], at + value
        yield tag >> 3, value
