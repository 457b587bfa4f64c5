#!/usr/bin/env python3
"""Push messages of many jobs to a predictor and count what arrives.

    predict_load.py IOPHASE [--jobs 100] [--rate 10000] [--seconds 20] [--core 0]

Every job sends from a connection of its own. The predictor is bound to one core and ended when it has been idle; its
state tells how many messages it took. Python 3 alone; Linux.
"""
import argparse
import json
import os
import socket
import struct
import subprocess
import sys
import tempfile
import time


def connect(address):
    host, port = address.rsplit(":", 1)
    s = socket.create_connection((host, int(port)))
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    s.sendall(b"\xff" + bytes(8) + b"\x7f\x03\x00NULL" + bytes(48))
    body = b"\x05READY\x0bSocket-Type" + struct.pack(">I", 4) + b"PUSH"
    s.sendall(bytes([4, len(body)]) + body)
    return s


def message(job, burst, period):
    t = burst * period
    name = f"job{job}".encode()
    return (
        b"\x85\xa5ranks\x08\xa1b\x92" + 2 * (b"\xcb" + struct.pack(">d", 1e9))
        + b"\xa2ts\x92" + 2 * (b"\xcb" + struct.pack(">d", t))
        + b"\xa2te\x92" + b"".join(b"\xcb" + struct.pack(">d", t + d) for d in (0.2, 0.3))
        + b"\xa3job" + bytes([0xA0 + len(name)]) + name
    )


def main():
    a = argparse.ArgumentParser()
    a.add_argument("iophase")
    a.add_argument("--jobs", type=int, default=100)
    a.add_argument("--rate", type=float, default=10_000)
    a.add_argument("--seconds", type=float, default=20)
    a.add_argument("--core", type=int, default=0)
    a = a.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        state = os.path.join(folder, "state.json")
        out = open(os.path.join(folder, "out"), "w+")
        child = subprocess.Popen(
            [a.iophase, "predict", "zmq://127.0.0.1:0", "--idle-exit", "2", "--state", state],
            stdout=out, stderr=subprocess.PIPE, text=True, preexec_fn=lambda: os.sched_setaffinity(0, {a.core}),
        )
        address = child.stderr.readline().strip().removeprefix("listening on zmq://")
        peers = [connect(address) for _ in range(a.jobs)]
        total = int(a.rate * a.seconds)
        begun, late = time.time(), 0.0
        usage = lambda: sum(os.times()[2:4])
        for n in range(total):
            job, burst = n % a.jobs, n // a.jobs
            body = message(job, burst, 0.5 + 0.01 * job)
            peers[job].sendall(bytes([0, len(body)]) + body if len(body) < 256 else b"\x02" + struct.pack(">Q", len(body)) + body)
            if n % 100 == 0:
                behind = time.time() - begun - n / a.rate
                late = max(late, behind)
                if behind < 0:
                    time.sleep(-behind)
        sent = time.time() - begun
        for p in peers:
            p.shutdown(socket.SHUT_WR)
        child.wait()
        cpu = usage()
        out.seek(0)
        predictions = [json.loads(l) for l in out]
        with open(state) as f:
            taken = json.load(f)["jobs"]["fed"]
        last = {p["job"]: p for p in predictions}
        right = sum(
            p["periodic"] and abs(p["period_s"] / (0.5 + 0.01 * int(j[3:])) - 1) < 0.01 for j, p in last.items()
        )
        print(f"{total} messages of {a.jobs} jobs sent in {sent:.1f} s ({total / sent:.0f}/s), at most {late:.2f} s behind")
        print(f"{taken} taken, {len(predictions)} predictions, {cpu:.1f} s of processor time, {right} of {a.jobs} last periods right")
        sys.exit(taken != total or right != a.jobs)


if __name__ == "__main__":
    main()
