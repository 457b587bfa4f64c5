#!/usr/bin/env python3
"""Answers of the named questions by pandas, compared with those of the program.

usage: questions.py FLEET ANSWERS     ANSWERS: a folder with NAME.csv of each question. Ends with 77 if pandas or deltalake is missing.
"""
import math, os, sys

try:
    import pandas as pd
    from deltalake import DeltaTable
except ImportError as e:
    print(e)
    sys.exit(77)

fleet, answers = sys.argv[1:]


def table(name):
    return DeltaTable(os.path.join(fleet, name)).to_pandas()


logs, signals, bursts, minutes, files, findings = (table(n) for n in "logs signals bursts minutes files findings".split())
good = logs[logs.status.isin(["ok", "partial"])]


def top_users():
    g = good.assign(h=good.io_s * good.ranks / 3600).groupby("user_id", dropna=False)
    out = g.agg(jobs=("log_key", "size"), io_core_hours=("h", lambda x: x.sum(min_count=1)), bytes_read=("bytes_read", "sum"), bytes_written=("bytes_written", "sum")).reset_index()
    lost = findings[findings.lost_s > 0].assign(c=lambda f: f.lost_s * f.ranks).groupby(["user_id", "code"]).c.sum().reset_index()
    worst = lost.sort_values(["c", "code"], ascending=[False, True]).drop_duplicates("user_id").set_index("user_id").code
    out["worst_finding"] = out.user_id.map(worst)
    return out.assign(rounded=out.io_core_hours.round(9)).sort_values(["rounded", "user_id"], ascending=[False, True]).drop(columns="rounded").head(20)


def top_findings():
    g = findings.assign(h=findings.lost_s * findings.ranks / 3600).groupby("code")
    out = g.agg(name=("name", "min"), jobs=("log_key", "nunique"), users=("user_id", "nunique"), lost_core_hours=("h", lambda x: x.sum(min_count=1))).reset_index()
    return out.sort_values(["lost_core_hours", "jobs", "code"], ascending=[False, False, True])


def periodic_apps():
    s = signals.assign(p=signals.periodic.map(lambda x: x is True or x == True)).groupby("log_key").p.any()
    runs = good.assign(p=good.log_key.map(s).map(lambda x: x is True or x == True))
    out = runs.groupby("app").agg(runs=("p", "size"), periodic_share=("p", "mean")).reset_index()
    sure = signals[signals.confidence > 0.8].groupby("app").agg(period_s=("period_s", "median"), duty_cycle=("duty_cycle", "median"), burst_bytes=("burst_bytes_median", "median"))
    return out.join(sure, on="app").sort_values(["runs", "app"], ascending=[False, True])


def period_by_version():
    version = logs.set_index("log_key").app_version
    s = signals[(signals.confidence > 0.8) & (signals.ranks > 0)]
    s = s.assign(app_version=s.log_key.map(version), ranks_class=s.ranks.map(lambda r: math.floor(math.log2(r))))
    out = s.groupby(["app", "app_version", "ranks_class", "mode"], dropna=False).agg(runs=("bytes", "size"), period_s=("period_s", "median"), burst_s=("burst_width_median_s", "median"), agg_rate=("agg_rate", "median"))
    return out.reset_index().sort_values(["app", "app_version", "ranks_class", "mode"])


def busy_minutes():
    m = minutes[minutes["mode"].isin(["read", "write"])]
    job = m.groupby(["minute", "mount", "log_key", "app", "user_id"], dropna=False).bytes.sum().reset_index()
    rows = []
    for (minute, mount), g in job.groupby(["minute", "mount"], dropna=False):
        top = g.sort_values(["bytes", "log_key"], ascending=[False, True]).iloc[0]
        rows.append([minute, mount, g.bytes.sum() / 60, len(g), top.app, top.user_id, top.bytes / 60])
    names = "minute mount bytes_per_s jobs largest_app largest_user largest_bytes_per_s".split()
    out = pd.DataFrame(rows, columns=names).sort_values(["bytes_per_s", "minute", "mount"], ascending=[False, True, True]).head(10)
    out["minute"] = out.minute.map(lambda t: t.strftime("%Y-%m-%dT%H:%M:%SZ"))
    return out


def collisions():
    b = bursts[(bursts["count"] == 1) & (bursts.end_time > bursts.begin_time)]
    b = b.assign(b=b.begin_time.map(lambda t: t.timestamp()), e=b.end_time.map(lambda t: t.timestamp()))
    b = b.sort_values("b")
    rows = list(zip(b.b, b.e, b.log_key, b.app))
    overlap, touched, active = {}, set(), []
    for s, e, key, app in rows:
        active = [a for a in active if a[1] > s]
        for s2, e2, key2, app2 in active:
            if key2 != key:
                x, y = ((key, app), (key2, app2)) if key < key2 else ((key2, app2), (key, app))
                overlap[x, y] = overlap.get((x, y), 0) + min(e, e2) - s
                touched |= {(key, s), (key2, s2)}
        active.append((s, e, key, app))
    job = {}
    for s, e, key, app in rows:
        j = job.setdefault(key, [s, e, 0.0])
        j[0], j[1], j[2] = min(j[0], s), max(j[1], e), j[2] + e - s
    sums = {}
    for ((k1, a1), (k2, a2)), o in overlap.items():
        x, y = job[k1], job[k2]
        chance = max(min(x[1], y[1]) - max(x[0], y[0]), 0) * x[2] / (x[1] - x[0]) * y[2] / (y[1] - y[0])
        t = sums.setdefault((min(a1, a2), max(a1, a2)), [0, 0.0, 0.0])
        t[0], t[1], t[2] = t[0] + 1, t[1] + o, t[2] + chance
    longer = {}
    for app in {r[3] for r in rows}:
        own = [(e - s, (key, s) in touched) for s, e, key, a in rows if a == app]
        mean = lambda m: (lambda v: sum(v) / len(v) if v else float("nan"))([l for l, t in own if t == m])
        longer[app] = mean(True) / mean(False)
    out = [[a, b, *v, longer[a], longer[b]] for (a, b), v in sums.items() if v[1] > v[2]]
    names = "app other_app job_pairs overlap_s chance_s app_longer other_longer".split()
    out = pd.DataFrame(out, columns=names)
    return out.assign(d=out.chance_s - out.overlap_s).sort_values(["d", "app", "other_app"]).drop(columns="d").head(20)


def quality():
    keys = "status format format_version timing".split()
    rows = []
    for k, g in logs.groupby(keys, dropna=False):
        n = g.groupby("reason", dropna=False).size().reset_index(name="n").sort_values(["n", "reason"], ascending=[False, True])
        rows.append([*k, len(g), n.reason.iloc[0]])
    return pd.DataFrame(rows, columns=keys + ["logs", "most_frequent_reason"]).sort_values(["logs"] + keys, ascending=[False] + [True] * 4)


def never_read():
    w, r = files[files.bytes_written > 0], files[files.bytes_read > 0]
    times = {f: sorted(g.start_time) for f, g in r.groupby("family")}
    again = lambda x: any(x.start_time <= t <= x.start_time + pd.Timedelta(days=30) for t in times.get(x.family, []))
    u = w[[not again(x) for x in w.itertuples()]]
    out = u.groupby(["family", "mount"], dropna=False).agg(jobs=("bytes_written", "size"), users=("user_id", "nunique"), bytes_written=("bytes_written", "sum"), last_written=("start_time", "max")).reset_index()
    out["last_written"] = out.last_written.map(lambda t: t.strftime("%Y-%m-%dT%H:%M:%S"))
    return out.sort_values(["bytes_written", "family", "mount"], ascending=[False, True, True]).head(20)


def text(x):
    return "" if x is None or x is pd.NA or x is pd.NaT or (isinstance(x, float) and math.isnan(x)) else str(x)


def same(a, b):
    try:
        return math.isclose(float(a), float(b), rel_tol=1e-6, abs_tol=1e-4)
    except ValueError:
        # times: whole seconds are enough
        return a == b or (a[:19] == b[:19] and len(a) > 19 and a[4:5] == "-")


wrong = 0
for f in [top_users, top_findings, periodic_apps, period_by_version, busy_minutes, collisions, quality, never_read]:
    name = f.__name__.replace("_", "-")
    got = pd.read_csv(os.path.join(answers, name + ".csv"), dtype=str, keep_default_na=False)
    want = f()
    w = [[text(x) for x in row] for row in want.itertuples(index=False)]
    g = got.values.tolist()
    if list(got.columns) != list(want.columns):
        print(name, "columns", list(got.columns), list(want.columns)); wrong += 1
    elif len(w) != len(g):
        print(name, "rows", len(g), "instead of", len(w)); wrong += 1
    else:
        bad = [(x, y) for x, y in zip(g, w) if not all(same(a, b) for a, b in zip(x, y))]
        if bad:
            print(name, len(bad), "rows differ, the first:\n", bad[0][0], "\n", bad[0][1]); wrong += 1
sys.exit(1 if wrong else 0)
