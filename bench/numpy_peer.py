#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Times the workloads of peers.py on NumPy, with the same protocol and rows.

  numpy_peer.py [--only NAME,NAME] [--out FILE] [--seconds S]

Needs numpy, scipy (erf) and ml_dtypes. NumPy has no bfloat16: ml_dtypes stores it, and products are taken in float32 and
rounded once, which is what a bfloat16 matmul means. Nothing is compiled, so first_ms is a plain first call.
"""
import argparse, json, statistics, time

import ml_dtypes
import numpy as np
from scipy.special import erf

import peers


def numpy_ops():
    o = peers.Ops()
    o.tanh, o.exp, o.log, o.sqrt, o.erf, o.where, o.abs = np.tanh, np.exp, np.log, np.sqrt, erf, np.where, np.abs
    o.rsqrt = lambda x: np.float32(1) / np.sqrt(x)
    o.sigmoid = lambda x: np.float32(1) / (np.float32(1) + np.exp(-x))
    o.mean = lambda x, ax: np.mean(x, axis=ax, keepdims=True)
    o.sum = lambda x, ax=None, keep=False: np.sum(x, axis=ax, keepdims=keep)
    o.max = lambda x, ax: np.max(x, axis=ax, keepdims=True)
    o.argmin = lambda x, ax: np.argmin(x, axis=ax)
    o.f32 = lambda x: x.astype(np.float32)
    o.bf16 = lambda x: x.astype(ml_dtypes.bfloat16)
    o.matmul = lambda a, b: o.bf16(np.matmul(o.f32(a), o.f32(b)))
    o.gather = lambda x, i: np.take_along_axis(x, i[:, None], axis=1)[:, 0]
    o.cat = lambda xs, ax: np.concatenate(xs, axis=ax)
    o.t = lambda x: np.swapaxes(x, -1, -2)
    o.permute, o.reshape = np.transpose, np.reshape
    o.tril_mask = lambda n: np.tril(np.ones((n, n), dtype=bool))
    return o


def put(host, kind):
    return host.astype(ml_dtypes.bfloat16) if kind == "bf16" else host


def time_workload(call, seconds):
    clock = time.perf_counter
    t0 = clock(); y = call(); first = clock() - t0
    for _ in range(3 if first < seconds else 0):
        y = call()
    t0 = clock(); y = call(); one = max(clock() - t0, 2e-6)
    reps = int(max(5, min(200, seconds / one)))
    runs = []
    for _ in range(reps):
        t0 = clock(); y = call(); runs.append(clock() - t0)
    t0 = clock()
    for _ in range(reps):
        y = call()
    back_to_back = (clock() - t0) / reps
    v = np.ravel(y[0] if isinstance(y, tuple) else y).astype(np.float32)
    run_us = round(statistics.median(runs) * 1e6, 2)
    return dict(first_ms=round(first * 1e3, 3), run_us=run_us, back_to_back_us=round(back_to_back * 1e6, 2),
                call_us=run_us, reps=reps, check=[float(v[0]), float(v[v.size // 3]), float(v[-1])])


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--only", default="")
    ap.add_argument("--out", default="")
    ap.add_argument("--seconds", type=float, default=0.5)
    a = ap.parse_args()
    o, rows = numpy_ops(), []
    for name, (f, specs) in peers.workloads(False).items():
        if a.only and name not in a.only.split(","):
            continue
        row = dict(peer="numpy", device="cpu", workload=name)
        try:
            xs = [put(peers.host_input(s), s[0]) for s in specs]
            row |= time_workload(lambda: f(o, *xs), a.seconds)
        except MemoryError as e:
            row |= dict(error=str(e))
        rows.append(row)
        print(json.dumps(row), flush=True)
    if a.out:
        with open(a.out, "w") as fh:
            json.dump(rows, fh, indent=1)


if __name__ == "__main__":
    main()
