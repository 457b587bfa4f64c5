"""Simulates jobs that share one file system, and compares what schedules their I/O.

    python3 scripts/simulate_contention.py [--iophase PATH] [--mix sets|even] [--seeds 5] [--load 0.7]

A job computes, then moves the bytes of a burst, and so on. Alone it has the whole bandwidth of the file system; jobs that
are in I/O at the same time share it, as the policy says:

    fcfs        one job at a time, in the order of asking
    fair        equal shares
    set-10      the heuristic of IO-Sets (Boito, Pallez, Teylo, Vidal, IEEE TPDS 2023): a job is in the set round(log10(t)), t its
                characteristic time, the mean time between two starts of I/O phases; of each set one job has access, in the
                order of asking; the sets share the bandwidth, set s with weight 10^-s

Set-10 is run with the true characteristic times (clairvoyant), with those that iophase finds in the trace of each job as it
grows (predicted), and with a set drawn by lot for each job (none). The trace of a job is what a tracer in the job would
record: calls that begin when the job asks and end when the bytes are moved, contention and waiting included. Before its first
prediction a job is in the set of the mean time between the starts of its bursts; in its first burst it waits for nobody and has the
weight of the set of its age.

Two measures: utilisation is the share of the time of all jobs that is spent computing; I/O slowdown is the time from the
start to the end of a burst over the time it takes alone, averaged over the bursts of a job, then over jobs.

Needs numpy. The same seed gives the same jobs.
"""

import argparse
import json
import math
import subprocess
import sys

import numpy as np

BANDWIDTH = 10e9  # bytes per second
CHUNKS = 4  # calls of a rank per burst
RANKS = 4


class Job:
    """A job: its plan, and where it is in it."""

    def __init__(self, number, period_s, share, jitter, rng):
        self.number = number
        self.io_s = period_s * share  # alone
        self.compute_s = period_s - self.io_s
        self.period_s = period_s
        self.jitter = jitter
        self.rng = rng
        self.set = 0
        self.wake_s = self.compute_s * rng.random()
        self.asked_s = None  # in I/O since; None: computing
        self.left_s = 0.0
        self.computed_s = 0.0
        self.compute_from = 0.0
        self.slowdowns = []
        self.asks = []
        self.edges = []  # of the calls of the last burst, in time
        self.looks = self.hits = 0

    def ask(self, now):
        self.computed_s += now - self.compute_from
        self.asked_s, self.left_s, self.edges = now, self.io_s, [now]
        self.asks.append(now)

    def move(self, now, seconds, rate):
        """I/O for some seconds until now at a share of the bandwidth."""
        done = self.io_s - self.left_s
        after = done + seconds * rate
        while rate > 0 and len(self.edges) < CHUNKS and after >= self.io_s * len(self.edges) / CHUNKS:
            target = self.io_s * len(self.edges) / CHUNKS
            self.edges.append(now - (after - target) / rate)
        self.left_s = self.io_s - after

    def finish(self, now):
        self.edges.append(now)
        self.slowdowns.append((now - self.asked_s) / self.io_s)
        self.asked_s, self.compute_from = None, now
        self.wake_s = now + self.compute_s * max(0.1, 1 + self.jitter * self.rng.standard_normal())


class Policy:
    """Who has which share of the bandwidth; told what happens."""

    def start(self, jobs, rng):
        pass

    def finished(self, job, now):
        pass

    def stop(self):
        pass


class Fcfs(Policy):
    """One job at a time."""

    def rates(self, waiting, now):
        first = min(waiting, key=lambda j: (j.asked_s, j.number))
        return [(first, 1.0)]


class Fair(Policy):
    """Equal shares."""

    def rates(self, waiting, now):
        return [(j, 1.0 / len(waiting)) for j in waiting]


class Set10(Policy):
    """One job of each set, the sets by weight. How the set of a job is known is for those below."""

    def queue(self, job, now):
        """The set, and the queue that the job stands in."""
        return job.set, job.set

    def rates(self, waiting, now):
        chosen, weights = {}, []
        for j in sorted(waiting, key=lambda j: (j.asked_s, j.number)):
            s, queue = self.queue(j, now)
            if queue not in chosen:
                chosen[queue] = j
                weights.append(10.0**-s)
        return [(j, w / sum(weights)) for j, w in zip(chosen.values(), weights)]


class Clairvoyant(Set10):
    """The true characteristic time."""

    def start(self, jobs, rng):
        for j in jobs:
            j.set = set_of(j.period_s)


class Lot(Set10):
    """No knowledge."""

    def start(self, jobs, rng):
        sets = sorted({set_of(j.period_s) for j in jobs})
        for j in jobs:
            j.set = sets[rng.integers(len(sets))]


class Predicted(Set10):
    """The characteristic time that `iophase predict` tells, which is sent every burst of the job as it ends."""

    def __init__(self, program):
        self.program = program
        self.followers = []

    def start(self, jobs, rng):
        for j in jobs:
            j.known = False
            command = [self.program, "predict", "-", "--every", "message", "-qq"]
            j.follower = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            self.followers.append(j.follower)

    def stop(self):
        for f in self.followers:
            f.stdin.close()
            f.stdout.read()
            if f.wait() != 0:
                sys.exit("iophase predict failed")

    def queue(self, job, now):
        if job.known:
            return super().queue(job, now)
        asked = job.asks
        if len(asked) > 1:
            s = set_of((asked[-1] - asked[0]) / (len(asked) - 1))
            return s, s
        return set_of(max(now, 1.0)), ("first burst", job.number)

    def finished(self, job, now):
        rate = [job.io_s * BANDWIDTH / CHUNKS / RANKS / max(e - s, 1e-9) for s, e in zip(job.edges, job.edges[1:])]
        flush = {
            "ranks": RANKS,
            "b": [r for r in rate for _ in range(RANKS)],
            "ts": [s for s in job.edges[:-1] for _ in range(RANKS)],
            "te": [e for e in job.edges[1:] for _ in range(RANKS)],
        }
        job.follower.stdin.write(json.dumps(flush) + "\n")
        job.follower.stdin.flush()
        prediction = json.loads(job.follower.stdout.readline())
        if prediction["periodic"]:
            job.set, job.known = set_of(prediction["period_s"]), True
            job.looks += 1
            job.hits += job.set == set_of(job.period_s)


def set_of(characteristic_s):
    return round(math.log10(characteristic_s))


def make_jobs(mix, load, jitter, seed):
    """Fifteen jobs whose I/O alone would keep the file system busy for a share `load` of the time."""
    rng = np.random.default_rng(seed)
    if mix == "sets":
        # Five of each set, as in the evaluation of IO-Sets: around 10, 100 and 1000 s.
        periods = [10.0**s * max(0.5, 1 + 0.1 * rng.standard_normal()) for s in (1, 2, 3) for _ in range(5)]
    else:
        # Anywhere from 5 to 2000 s, near the edges of sets, too.
        periods = list(10 ** rng.uniform(math.log10(5), math.log10(2000), 15))
    shares = rng.dirichlet(np.full(15, 4.0)) * load
    return [Job(i, p, s, jitter, np.random.default_rng([seed, i])) for i, (p, s) in enumerate(zip(periods, shares))]


def simulate(policy, jobs, horizon_s):
    now = 0.0
    while now < horizon_s:
        waiting = [j for j in jobs if j.asked_s is not None]
        rates = policy.rates(waiting, now) if waiting else []
        wake = min((j.wake_s for j in jobs if j.asked_s is None), default=math.inf)
        done = min((now + j.left_s / r for j, r in rates), default=math.inf)
        then = min(wake, done, horizon_s)
        for j, r in rates:
            j.move(then, then - now, r)
        now = then
        for j, _ in rates:
            if j.left_s <= 1e-9 * j.io_s:
                j.finish(now)
                policy.finished(j, now)
        for j in jobs:
            if j.asked_s is None and j.wake_s <= now:
                j.ask(now)
    for j in jobs:
        if j.asked_s is None:
            j.computed_s += now - j.compute_from
    utilisation = sum(j.computed_s for j in jobs) / (len(jobs) * horizon_s)
    slowdown = float(np.mean([np.mean(j.slowdowns) for j in jobs if j.slowdowns]))
    return utilisation, slowdown


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--iophase", default="target/release/iophase", metavar="PATH", help="the program")
    parser.add_argument("--mix", choices=["sets", "even"], default="sets", help="periods near 10^n, or anywhere")
    parser.add_argument("--load", type=float, default=0.7, help="I/O of all jobs as a share of the bandwidth")
    parser.add_argument("--jitter", type=float, default=0.05, help="of the compute time, as a share")
    parser.add_argument("--horizon", type=float, default=20000.0, metavar="SECONDS")
    parser.add_argument("--seeds", type=int, default=5)
    a = parser.parse_args()

    policies = [
        ("first come", lambda: Fcfs()),
        ("fair share", lambda: Fair()),
        ("set-10, none", lambda: Lot()),
        ("set-10, predicted", lambda: Predicted(a.iophase)),
        ("set-10, clairvoyant", lambda: Clairvoyant()),
    ]
    table = {}
    looks = hits = 0
    for seed in range(a.seeds):
        for name, make in policies:
            jobs, policy = make_jobs(a.mix, a.load, a.jitter, seed), make()
            policy.start(jobs, np.random.default_rng([seed, 99]))
            table.setdefault(name, []).append(simulate(policy, jobs, a.horizon))
            policy.stop()
            looks += sum(j.looks for j in jobs)
            hits += sum(j.hits for j in jobs)
    reference = np.mean(table["set-10, clairvoyant"], axis=0)
    print(f"mix {a.mix}, load {a.load:.2f}, jitter {a.jitter:.2f}, {a.seeds} x {a.horizon:.0f} s, 15 jobs")
    print(f"{'policy':<22}{'utilisation':>12}{'slowdown':>10}{'to clairvoyant':>20}  (standard error over runs)")
    for name, values in table.items():
        mean = np.mean(values, axis=0)
        off = 100 * (mean / reference - 1)
        each = 100 * (np.array(values)[:, 1] / np.array(table["set-10, clairvoyant"])[:, 1] - 1)
        error = np.std(each, ddof=1) / math.sqrt(len(each)) if len(each) > 1 else math.nan
        print(f"{name:<22}{mean[0]:>12.4f}{mean[1]:>10.3f}{off[0]:>+10.2f} %{off[1]:>+7.2f} % +- {error:.2f}")
    print(f"set of {hits} of {looks} predictions right")


if __name__ == "__main__":
    main()
