"""Measures the acknowledgement latency of a legitimate job during an attack."""

import multiprocessing
import time

from http2 import (DATA, END_HEADERS, END_STREAM, GET_JOB, HEADERS, RST_STREAM, STREAM_EVENTS,
                   Connection, field, fields, fixed64, frame, grpc_message, request)

EVENT_EVERY_S = 0.01


def ask(master, host="127.0.0.1"):
    """Makes one call over a new connection and returns its duration."""
    began = time.monotonic()
    connection = master.connect(host).greet()
    connection.call(GET_JOB, master.token, field(1, "good"))
    connection.close()
    return time.monotonic() - began


def time_until_served(master, patience_s=20):
    """Waits until the master answers a new connection."""
    began = time.monotonic()
    while time.monotonic() < began + patience_s:
        try:
            master.timeout_s = 1
            ask(master)
            return time.monotonic() - began
        except OSError:
            time.sleep(0.02)
        finally:
            master.timeout_s = 20
    return float("inf")


class GoodJob:
    """Runs in its own process from its construction until latencies_s() is called."""

    def __init__(self, master):
        self.ours, theirs = multiprocessing.Pipe()
        self.process = multiprocessing.Process(target=_report, args=(master, theirs))
        self.process.start()
        assert self.ours.recv() == "open", "the good job could not be opened"

    def latencies_s(self):
        """Ends the job and returns its latencies. Lost acknowledgements count as infinity."""
        self.ours.send("end")
        latencies = self.ours.recv() if self.ours.poll(30) else [float("inf")]
        self.process.terminate()
        self.process.join()
        return latencies


class Reporter:
    """Reports events of one job over its own connection."""

    def __init__(self, master, job_id):
        self.job_id = job_id
        self.sequence = 0
        self.unread = b""
        self.connection = master.connect("127.0.0.1").greet()
        self.connection.send(frame(HEADERS, END_HEADERS, 1, request(STREAM_EVENTS, master.token)))

    def send(self, *events):
        """Sends events and returns the time until their acknowledgement."""
        source = field(2, field(2, f"{self.job_id}-source") + field(3, self.job_id))
        batch = (b"" if self.sequence else source) + field(4, self.sequence + 1)
        batch += fixed64(5, time.time_ns()) + b"".join(field(7, event) for event in events)
        self.sequence += len(events)
        began = time.monotonic()
        self.connection.send(frame(DATA, 0, 1, grpc_message(batch)))
        while True:
            kind, flags, stream, payload = self.connection.read_frame()
            if stream == 1 and (kind == RST_STREAM or kind == HEADERS and flags & END_STREAM):
                raise ConnectionError(f"the stream of job {self.job_id} was ended")
            if stream != 1 or kind != DATA:
                continue
            self.unread += payload
            while len(self.unread) >= (end := 5 + int.from_bytes(self.unread[1:5], "big")):
                response, self.unread = self.unread[5:end], self.unread[end:]
                if any(n == 2 and value >= self.sequence for n, value in fields(response)):
                    return time.monotonic() - began


def _report(master, pipe):
    job = Reporter(master, "good")
    # The first attempt at task 0 of stage 0.
    attempt = b""
    latencies = []
    try:
        maps = field(7, 1) + field(8, 4)
        reduces = field(1, 1) + field(7, 2) + field(8, 1)
        job.send(field(1, field(1, "good job") + field(8, maps) + field(8, reduces)))
        job.send(field(5, field(1, attempt) + field(2, 2)))
        pipe.send("open")
        beats = 0
        while not pipe.poll(EVENT_EVERY_S):
            beats += 1
            latencies.append(job.send(field(6, field(1, attempt) + field(2, beats))))
    except OSError as error:
        print("the good job:", error, flush=True)
        latencies.append(float("inf"))
    pipe.send(latencies)
