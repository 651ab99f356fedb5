#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares rows of workloads_bench with rows of peers measured beside it (Python 3.9, no packages).

  compare.py ROWS.json... [--warm ROWS.json...] [--key run_us]

Files may repeat a peer, and those of --warm count too: the fastest row of each is taken, and the least floor.
Prints a Markdown table: our time, the floor (memory alone moving the inputs and outputs) and its share of our time, and for
each peer its time divided by ours, above 1 where we are faster. --warm: rows of second processes over the same cache.
Says which check values differ (relative to the larger: 1e-4; 1e-2 where bfloat16 is in play) and then ends with status 1.
"""
import argparse, json, math, sys

BFLOAT16 = {"gelu_bias_residual", "layernorm", "rmsnorm", "cross_entropy", "rope", "dequant", "mlp", "attention",
            "transformer_block"}


def is_better(row, other, key):
    if "bytes_per_second" in row:
        return row["bytes_per_second"] > other["bytes_per_second"]
    return row.get(key, math.inf) < other.get(key, math.inf)


def read_rows(paths, key):
    rows = {}
    for path in paths:
        with open(path) as fh:
            for row in json.load(fh):
                table = rows.setdefault(row["peer"], {})
                other = table.get(row["workload"])
                if other is None or is_better(row, other, key):
                    table[row["workload"]] = row
    return rows


def differs(name, ours, theirs):
    limit = 1e-2 if name in BFLOAT16 else 1e-4
    return any(not math.isclose(x, y, rel_tol=limit, abs_tol=limit * 1e-2) for x, y in zip(ours, theirs))


def ratio(ours, row, key):
    return f"{row[key] / ours[key]:.2f}" if row and key in row else "-"


def milliseconds(row):
    return f"{row['first_ms']:.0f}" if row and "first_ms" in row else "-"


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values)) if values else float("nan")


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("rows", nargs="+", help="JSON written by --out; one holds the peer tenon")
    ap.add_argument("--warm", nargs="*", default=[])
    ap.add_argument("--key", default="run_us", choices=["run_us", "back_to_back_us", "first_ms"])
    a = ap.parse_args()
    rows, warm = read_rows(a.rows + a.warm, a.key), read_rows(a.warm, "first_ms")
    first = read_rows(a.rows, "first_ms")
    ours = rows.pop("tenon")
    floors = read_rows(a.rows + a.warm, "floor_us")["tenon"]
    rate = ours.pop("copy_rate", None)
    if rate:
        print(f"Copy rate over 32 MiB: {rate['bytes_per_second'] / 1e9:.1f} GB/s\n")
    everyone = ["tenon", *rows]
    print("| workload | us | floor us | share | " + " | ".join(rows) + " | cold / warm ms: " + ", ".join(everyone) + " |")
    print("|---" * (5 + len(rows)) + "|")
    faults, ratios = [], {peer: [] for peer in rows}
    for name, own in ours.items():
        if a.key not in own:
            faults.append(f"{name}: {own.get('error', 'no row')}")
            continue
        floor = floors[name]["floor_us"]
        cells = [name, f"{own[a.key]:.0f}", f"{floor:.0f}", f"{floor / own[a.key]:.2f}"]
        for peer, table in rows.items():
            row = table.get(name)
            cells.append(ratio(own, row, a.key))
            if row and a.key in row:
                ratios[peer].append(row[a.key] / own[a.key])
                if differs(name, own["check"], row["check"]):
                    faults.append(f"{name}: {peer} has {row['check']}, tenon {own['check']}")
        firsts = [milliseconds(first[p].get(name)) + "/" + milliseconds(warm.get(p, {}).get(name)) for p in everyone]
        print("| " + " | ".join(cells + [", ".join(firsts)]) + " |")
    means = [f"{geometric_mean(values):.2f}" for values in ratios.values()]
    print("| geometric mean | | | | " + " | ".join(means) + " | |")
    for fault in faults:
        print("DIFFERS " + fault)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
