#!/usr/bin/env python3
"""Crowd the sockets of `serve` and `predict` and measure how others are served meanwhile.

    cargo build --release --features serve
    socket_load.py IOPHASE [--connections 10000] [--requests 100000]

Connections that are silent, stop halfway or never read are opened in their thousands and left open. After every hundred, another
client comes, and has to be answered rightly. Then one client sends its many requests or messages, and twenty hold 60 MiB each. At last,
clients that come again whenever they are sent away announce 64 MiB, and send a byte or nearly all of it; and one job sends a block of
thousands of bursts while others ask. A row of the output has the longest wait of others, how many answers were wrong, and the memory of
the process. Ends with 1 if an answer was wrong or a message lost. Traffic stays on the loopback interface. Python 3 alone; Linux.
"""
import argparse
import json
import os
import re
import resource
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

ROWS = b"rank,op,start,end,size\n" + b"".join(b"0,write,%d,%d,1000\n" % (3 * i, 3 * i + 1) for i in range(20))
GREETING = b"\xff" + bytes(8) + b"\x7f\x03\x00NULL" + bytes(48)
READY = b"\x05READY\x0bSocket-Type" + struct.pack(">I", 4) + b"PUSH"
EVERY = 100
# More bytes than all bodies, or all messages, may hold together.
BODIES, LARGE = 20, 60 << 20
# Of those who come again: how many, what each announces, and what it sends of that.
ATTACKERS, ANNOUNCED = (12, 60), 64 << 20
SENT = {"1 byte": 1, "60 MiB": LARGE}
BURSTS = b"rank,op,start,end,size\n" + b"".join(b"0,write,%d,%d,1000\n" % (5 * i, 5 * i + 1) for i in range(4000))


def post(path, body):
    return b"POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s" % (path, len(body), body)


GET = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
ANALYZE = post(b"/api/analyze", ROWS)
CLIENTS = {
    "silent": b"",
    "half a head": b"GET /api/jobs HTTP/1.1\r\nHost: loc",
    "half a body": ANALYZE[:-100],
    "never reads": 16 * b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
}
SENDERS = {"no greeting": b"", "greeted, silent": GREETING + bytes([4, len(READY)]) + READY}


class Program:
    """A running process that listens, and its address."""

    def __init__(self, *command):
        self.child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        line = self.child.stderr.readline()
        self.port = int(re.search(r":(\d+)/?$", line.strip()).group(1))
        # Its reports must not fill the pipe.
        os.set_blocking(self.child.stderr.fileno(), False)
        # Connections of each kind come from an address of their own, so that ports do not run out.
        self.sources = 1

    def connect(self, source="127.0.0.1"):
        s = socket.socket()
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        s.settimeout(60)
        s.bind((source, 0))
        s.connect(("127.0.0.1", self.port))
        return s

    def crowd(self, count, bytes_sent, asks, every=EVERY):
        """Opens connections that send these bytes; the longest wait of any of `asks`, and how often one was answered wrongly."""
        self.sources += 1
        held, worst, wrong = [], 0.0, 0
        for i in range(count):
            s = self.connect(f"127.0.0.{self.sources}")
            held.append(s)
            s.settimeout(1)
            try:
                s.sendall(bytes_sent)
            except OSError:
                pass  # not read any more, or dropped for one that waits: both are right
            wait, failed = self.timed(asks if i % every == every - 1 else ())
            worst, wrong = max(worst, wait), wrong + failed
        for s in held:
            s.close()
        return worst, wrong

    def attack(self, count, bytes_sent, asks):
        """Of `asks` while so many send these bytes and fall silent, and come again when they are sent away: as for `crowd`."""
        over = threading.Event()

        def hold():
            while not over.is_set():
                try:
                    with self.connect() as s:
                        s.sendall(bytes_sent)
                        s.settimeout(1)
                        while not over.is_set():
                            try:
                                if not s.recv(1 << 12):
                                    break
                            except TimeoutError:
                                pass
                except OSError:
                    pass  # sent away

        threads = [threading.Thread(target=hold, daemon=True) for _ in range(count)]
        for t in threads:
            t.start()
        time.sleep(1)  # Nothing reports that all have sent what they send.
        worst, wrong = self.timed(10 * asks)
        over.set()
        for t in threads:
            t.join()
        return worst, wrong

    def timed(self, asks):
        worst, wrong = 0.0, 0
        for ask in asks:
            begun = time.monotonic()
            wrong += not ask()
            worst = max(worst, time.monotonic() - begun)
            self.drain()
        return worst, wrong

    def drain(self):
        try:
            os.read(self.child.stderr.fileno(), 1 << 16)
        except BlockingIOError:
            pass

    def memory(self):
        """Resident bytes now and at most."""
        with open(f"/proc/{self.child.pid}/status") as f:
            text = f.read()
        return [int(re.search(rf"{name}:\s*(\d+) kB", text).group(1)) * 1024 for name in ("VmRSS", "VmHWM")]

    def end(self):
        self.child.send_signal(signal.SIGTERM)
        self.child.wait()


def row(name, what, wait_s, wrong, program):
    now, most = program.memory()
    print(f"| {name} | {what} | {wait_s * 1e3:.0f} ms | {wrong} | {now / 1e6:.0f} MB, {most / 1e6:.0f} MB |", flush=True)
    return wrong


def answer(s, request):
    """Status and body of one answer on a connection that stays open."""
    s.sendall(request)
    data = b""
    while b"\r\n\r\n" not in data:
        more = s.recv(1 << 16)
        if not more:
            return None
        data += more
    head, body = data.split(b"\r\n\r\n", 1)
    length = int(re.search(rb"(?i)content-length: (\d+)", head).group(1))
    while len(body) < length:
        more = s.recv(1 << 16)
        if not more:
            return None
        body += more
    return head.split(b" ", 2)[1], body


def serve(a):
    program = Program(a.iophase, "serve", "--listen", "127.0.0.1:0")

    def asked(request):
        try:
            with program.connect() as s:
                return answer(s, request)
        except OSError:
            return None

    def ok(request):
        got = asked(request)
        return got is not None and got[0] == b"200"

    health, right = asked(GET), asked(ANALYZE)
    assert health and health[0] == right[0] == b"200", (health, right)
    wrong, asks = 0, [lambda: asked(GET) == health, lambda: asked(ANALYZE) == right]
    for kind, bytes_sent in CLIENTS.items():
        wait, failed = program.crowd(a.connections, bytes_sent, asks)
        wrong += row("serve", f"{a.connections} connections: {kind}", wait, failed, program)
    failed, worst = 0, 0.0
    with program.connect() as s:
        for i in range(a.requests):
            request, expected = (ANALYZE, right) if i % EVERY == 0 else (GET, health)
            begun = time.monotonic()
            failed += answer(s, request) != expected
            worst = max(worst, time.monotonic() - begun)
    wrong += row("serve", f"{a.requests} requests", worst, failed, program)
    wait, failed = program.crowd(BODIES, post(b"/api/analyze", bytes(LARGE))[:-100], asks[:1], 1)
    failed += not asks[1]()
    wrong += row("serve", f"{BODIES} bodies of {LARGE >> 20} MiB that do not end", wait, failed, program)
    block = post(b"/api/jobs/a/blocks", ROWS)
    asks += [lambda: ok(block)]
    for what, sent in SENT.items():
        head = b"POST /api/analyze HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: %d\r\n\r\n" % ANNOUNCED
        for count in ATTACKERS:
            wait, failed = program.attack(count, head + bytes(sent), asks)
            wrong += row("serve", f"{count} bodies that stall after {what}, again and again", wait, failed, program)
    wrong += long_block(program, ok)
    program.end()
    return wrong


def long_block(program, ok):
    """Asks while a block of many bursts is followed."""
    got = []
    sender = threading.Thread(target=lambda: got.append(ok(post(b"/api/jobs/long/blocks", BURSTS))))
    asks = [lambda: ok(GET), lambda: ok(GET.replace(b"healthz", b"metrics"))]
    sender.start()
    worst, wrong, begun = 0.0, 0, time.monotonic()
    while sender.is_alive():
        wait, failed = program.timed(asks)
        worst, wrong = max(worst, wait), wrong + failed
    took = time.monotonic() - begun
    wrong += not got[0]
    return row("serve", f"a block of {len(BURSTS) >> 10} kB with 4,000 bursts, answered in {took:.1f} s", worst, wrong, program)


def sender(program):
    """A connection whose greetings are done, or None."""
    s = program.connect()
    s.sendall(SENDERS["greeted, silent"])
    data = b""
    try:
        while len(data) < 66 or len(data) < 66 + data[65]:
            more = s.recv(1 << 12)
            if not more:
                return None
            data += more
    except OSError:
        return None
    return s


def predict(a, folder):
    state = os.path.join(folder, "state.json")
    program = Program(a.iophase, "predict", "zmq://127.0.0.1:0", "--state", state)

    def greets():
        s = sender(program)
        if s:
            s.close()
        return s is not None

    wrong = 0
    for kind, bytes_sent in SENDERS.items():
        wait, failed = program.crowd(a.connections, bytes_sent, [greets])
        wrong += row("predict", f"{a.connections} senders: {kind}", wait, failed, program)
    wrong += messages(a, program)
    held = SENDERS["greeted, silent"] + b"\x02" + struct.pack(">Q", LARGE) + bytes(LARGE - 100)
    wait, failed = program.crowd(BODIES, held, [greets], 1)
    wrong += row("predict", f"{BODIES} messages of {LARGE >> 20} MiB that do not end", wait, failed, program)
    good = json.dumps({"ranks": 1, "b": [1e6], "ts": [0.0], "te": [1.0]}).encode()
    sent_whole = []

    def sends():
        s = sender(program)
        if s is None:
            return False
        with s:
            sent_whole.append(s.sendall(bytes([0, len(good)]) + good))
            s.shutdown(socket.SHUT_WR)
            try:
                return s.recv(1) == b""  # all is read
            except OSError:
                return False

    for what, sent in SENT.items():
        held = SENDERS["greeted, silent"] + b"\x02" + struct.pack(">Q", ANNOUNCED) + bytes(sent)
        for count in ATTACKERS:
            wait, failed = program.attack(count, held, [sends])
            wrong += row("predict", f"{count} messages that stall after {what}, again and again", wait, failed, program)
    program.end()
    with open(state) as f:
        lost = a.requests + len(sent_whole) - json.load(f)["jobs"]["fed"]
    print(f"{lost} messages lost")
    return wrong + lost


def messages(a, program):
    """Sends many messages as one sender."""
    s, begun = sender(program), time.monotonic()
    for i in range(a.requests):
        body = json.dumps({"ranks": 1, "b": [1e6], "ts": [2.0 * i], "te": [2.0 * i + 1.0]}).encode()
        s.sendall(bytes([0, len(body)]) + body)
        if i % EVERY == 0:
            program.drain()
    s.shutdown(socket.SHUT_WR)
    s.recv(1)  # the end, when all is read
    return row("predict", f"{a.requests} messages, all of them", time.monotonic() - begun, 0, program)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("iophase")
    parser.add_argument("--connections", type=int, default=10_000, help="of each kind [10000]")
    parser.add_argument("--requests", type=int, default=100_000, help="requests, and messages [100000]")
    a = parser.parse_args()
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    if a.connections + 100 > hard:
        sys.exit(f"{a.connections} connections need more than the {hard} open files that are allowed")
    print("| service | load | others wait at most | wrong | memory now, at most |\n|---|---|---|---|---|")
    wrong = serve(a)
    with tempfile.TemporaryDirectory() as folder:
        wrong += predict(a, folder)
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
