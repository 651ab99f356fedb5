#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Times the benchmark workloads on the peers a user would pick instead: PyTorch and JAX (numpy_peer.py: NumPy).

  peers.py --peer torch-eager|torch-compile|torch-graph|jax --device cuda|cpu [--only NAME,NAME] [--out FILE]

torch-graph is torch.compile(mode="reduce-overhead"), which replays CUDA graphs.
For each workload it prints one JSON line:
  first_ms   the first call (tracing + compiling + one run), after a throw-away compile of another function,
             so that one-time start-up is not in it. Run it twice with one cache directory for cold and warm.
  run_us     median time of one call: device events on a GPU, wall clock on a CPU
  call_us    median host time of one call without waiting for the device (GPU only)
  check      a few values of the output, to compare with another implementation
Inputs are made by the same integer hash on every peer (see fill), so any implementation can make them bit for bit.
"""
import argparse, json, math, os, statistics, sys, time
import numpy as np

U = 1 << 20


def fill(shape, seed, lo=-1.0, hi=1.0):
    """Uniform float32 in [lo, hi): index i -> murmur-style 32-bit finalizer of (i + 0x9E3779B9*seed) -> top 24 bits."""
    n = int(np.prod(shape)) if shape else 1
    out = np.empty(n, np.float32)
    step = 1 << 24
    for s in range(0, n, step):
        x = np.arange(s, min(n, s + step), dtype=np.uint64).astype(np.uint32)
        x += np.uint32((0x9E3779B9 * seed) & 0xFFFFFFFF)
        x ^= x >> np.uint32(16); x *= np.uint32(0x85EBCA6B)
        x ^= x >> np.uint32(13); x *= np.uint32(0xC2B2AE35)
        x ^= x >> np.uint32(16)
        u = (x >> np.uint32(8)).astype(np.float32) * np.float32(1.0 / (1 << 24))
        out[s:s + step] = u * np.float32(hi - lo) + np.float32(lo)
    return out.reshape(shape)


def ints(shape, seed, hi):
    n = int(np.prod(shape))
    x = np.arange(n, dtype=np.uint64).astype(np.uint32) + np.uint32((0x9E3779B9 * seed) & 0xFFFFFFFF)
    x ^= x >> np.uint32(16); x *= np.uint32(0x85EBCA6B)
    x ^= x >> np.uint32(13); x *= np.uint32(0xC2B2AE35)
    x ^= x >> np.uint32(16)
    return (x % np.uint32(hi)).astype(np.int64).reshape(shape)


class Ops:
    """The few operations whose spelling differs between the peers."""


def torch_ops():
    import torch
    import torch.nn.functional as F
    o = Ops()
    o.tanh, o.exp, o.log, o.sqrt, o.rsqrt, o.erf = torch.tanh, torch.exp, torch.log, torch.sqrt, torch.rsqrt, torch.erf
    o.sigmoid, o.where, o.abs = torch.sigmoid, torch.where, torch.abs
    o.mean = lambda x, ax: torch.mean(x, dim=ax, keepdim=True)
    o.sum = lambda x, ax=None, keep=False: torch.sum(x) if ax is None else torch.sum(x, dim=ax, keepdim=keep)
    o.max = lambda x, ax: torch.amax(x, dim=ax, keepdim=True)
    o.argmin = lambda x, ax: torch.argmin(x, dim=ax)
    o.f32 = lambda x: x.to(torch.float32)
    o.bf16 = lambda x: x.to(torch.bfloat16)
    o.matmul = torch.matmul
    o.gather = lambda x, i: torch.gather(x, 1, i[:, None])[:, 0]
    o.cat = lambda xs, ax: torch.cat(xs, dim=ax)
    o.t = lambda x: x.transpose(-1, -2)
    o.permute = lambda x, p: x.permute(p)
    o.reshape = lambda x, s: x.reshape(s)
    place = "cuda" if torch.cuda.is_available() else "cpu"
    o.tril_mask = lambda n: torch.tril(torch.ones(n, n, dtype=torch.bool, device=place))
    return o


def jax_ops():
    import jax, jax.numpy as jnp
    o = Ops()
    o.tanh, o.exp, o.log, o.sqrt, o.rsqrt = jnp.tanh, jnp.exp, jnp.log, jnp.sqrt, jax.lax.rsqrt
    o.erf = jax.scipy.special.erf
    o.sigmoid, o.where, o.abs = jax.nn.sigmoid, jnp.where, jnp.abs
    o.mean = lambda x, ax: jnp.mean(x, axis=ax, keepdims=True)
    o.sum = lambda x, ax=None, keep=False: jnp.sum(x, axis=ax, keepdims=keep)
    o.max = lambda x, ax: jnp.max(x, axis=ax, keepdims=True)
    o.argmin = lambda x, ax: jnp.argmin(x, axis=ax)
    o.f32 = lambda x: x.astype(jnp.float32)
    o.bf16 = lambda x: x.astype(jnp.bfloat16)
    o.matmul = jnp.matmul
    o.gather = lambda x, i: jnp.take_along_axis(x, i[:, None], axis=1)[:, 0]
    o.cat = lambda xs, ax: jnp.concatenate(xs, axis=ax)
    o.t = lambda x: jnp.swapaxes(x, -1, -2)
    o.permute = jnp.transpose
    o.reshape = jnp.reshape
    o.tril_mask = lambda n: jnp.tril(jnp.ones((n, n), dtype=bool))
    return o


# ---- the workloads: name -> (function of (ops, *inputs), inputs(scale)) -------------------------------------------
# An input is (kind, shape, seed, lo, hi) with kind f32 | bf16 | u8 | i64. `g` is True for GPU sizes.
def gelu(o, x):
    return 0.5 * x * (1.0 + o.erf(x * 0.7071067811865476))


def w_pointwise_chain(o, x, b, c):
    return o.tanh(x * 1.5 + b) * o.sigmoid(c) + x


def w_gelu_bias_residual(o, x, bias, r):
    return o.bf16(gelu(o, o.f32(x) + o.f32(bias)) + o.f32(r))


def w_softmax(o, x):
    e = o.exp(x - o.max(x, 1))
    return e / o.sum(e, 1, True)


def w_layernorm(o, x, w, b):
    x = o.f32(x)
    m = o.mean(x, 1)
    d = x - m
    v = o.mean(d * d, 1)
    return o.bf16(d * o.rsqrt(v + 1e-5) * w + b)


def w_rmsnorm(o, x, w):
    x = o.f32(x)
    return o.bf16(x * o.rsqrt(o.mean(x * x, 1) + 1e-6) * w)


def w_black_scholes(o, s, k, t):
    r, sig = 0.02, 0.3
    st = sig * o.sqrt(t)
    d1 = (o.log(s / k) + (r + 0.5 * sig * sig) * t) / st
    d2 = d1 - st
    n1 = 0.5 * (1.0 + o.erf(d1 * 0.7071067811865476))
    n2 = 0.5 * (1.0 + o.erf(d2 * 0.7071067811865476))
    kd = k * o.exp(-r * t)
    call = s * n1 - kd * n2
    return call, call - s + kd


def w_sum_all(o, x):
    return o.sum(x)


def w_col_sum(o, x):
    return o.sum(x, 0)


def w_batch_normalize(o, x):
    m = o.mean(x, 0)
    d = x - m
    return d / o.sqrt(o.mean(d * d, 0) + 1e-5)


def w_cross_entropy(o, logits, target):
    x = o.f32(logits)
    m = o.max(x, 1)
    lse = o.log(o.sum(o.exp(x - m), 1)) + m[:, 0]
    return o.sum(lse - o.gather(x, target))


def w_adam_step(o, p, g, m, v):
    m2 = 0.9 * m + 0.1 * g
    v2 = 0.999 * v + 0.001 * g * g
    return p - 0.001 * m2 / (o.sqrt(v2) + 1e-8), m2, v2


def w_jacobi2d(o, u):
    for _ in range(2):
        u = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
    return u


def w_transpose_add(o, a, b):
    return a * 2.0 + o.t(b)


def w_rope(o, x, cos, sin):
    h = x.shape[-1] // 2
    x1, x2 = o.f32(x[..., :h]), o.f32(x[..., h:])
    return o.bf16(o.cat([x1 * cos - x2 * sin, x2 * cos + x1 * sin], -1))


def w_dequant(o, q, scale, zero):
    return o.bf16((o.f32(q) - zero) * scale)


def w_kmeans_assign(o, x, c):
    d = x[:, None, :] - c[None, :, :]
    return o.argmin(o.sum(d * d, 2), 1)


def w_mandelbrot(o, cr, ci):
    zr, zi, n = cr, ci, cr * 0.0
    for _ in range(40):
        zr2, zi2 = zr * zr, zi * zi
        live = (zr2 + zi2) < 4.0
        n = n + o.where(live, 1.0, 0.0)
        zi = o.where(live, 2.0 * zr * zi + ci, zi)
        zr = o.where(live, zr2 - zi2 + cr, zr)
    return n


def w_mlp(o, x, w1, b1, w2):
    h = o.f32(o.matmul(x, w1)) + o.f32(b1)
    return o.matmul(o.bf16(gelu(o, h)), w2)


def w_attention(o, q, k, v):
    s = o.f32(o.matmul(q, o.t(k))) * (1.0 / math.sqrt(q.shape[-1]))
    s = o.where(o.tril_mask(q.shape[-2]), s, -1e30)
    e = o.exp(s - o.max(s, -1))
    return o.matmul(o.bf16(e / o.sum(e, -1, True)), v)


def w_small_chain(o, x):
    for i in range(50):
        x = o.tanh(x * 1.01 + 0.001 * i)
    return x


def w_transformer_block(o, x, wqkv, wo, w1, w2, g1, g2):
    b, s, d = x.shape
    h = 16
    def norm(t, g):
        t = o.f32(t)
        return o.bf16(t * o.rsqrt(o.mean(t * t, -1) + 1e-6) * g)
    qkv = o.permute(o.reshape(o.matmul(norm(x, g1), wqkv), (b, s, 3, h, d // h)), (2, 0, 3, 1, 4))
    a = o.reshape(o.permute(w_attention(o, qkv[0], qkv[1], qkv[2]), (0, 2, 1, 3)), (b, s, d))
    x = x + o.matmul(a, wo)
    return x + o.matmul(o.bf16(gelu(o, o.f32(o.matmul(norm(x, g2), w1)))), w2)


def workloads(g):
    """name -> (function, inputs). GPU sizes fill the chip; CPU sizes run well past the last-level cache."""
    n = 64 * U if g else 8 * U
    r, c = (16384, 4096) if g else (2048, 4096)
    half, k = n // 2, n // 1024
    side = (8192, 8192) if g else (3000, 3000)
    tokens = 8192 if g else 512
    heads = (64, 1024, 64) if g else (8, 256, 64)
    rows, inner, wide = (8192, 4096, 16384) if g else (256, 512, 2048)
    b, s, d = (4, 1024, 1024) if g else (1, 128, 256)
    return {
        "pointwise_chain": (w_pointwise_chain, [("f32", (n,), 1), ("f32", (n,), 2), ("f32", (n,), 3)]),
        "gelu_bias_residual": (w_gelu_bias_residual, [("bf16", (r, c), 1), ("bf16", (c,), 2), ("bf16", (r, c), 3)]),
        "softmax": (w_softmax, [("f32", (r, c), 1, -4, 4)]),
        "layernorm": (w_layernorm, [("bf16", (r, c), 1), ("f32", (c,), 2), ("f32", (c,), 3)]),
        "rmsnorm": (w_rmsnorm, [("bf16", (r, c), 1), ("f32", (c,), 2)]),
        "black_scholes": (w_black_scholes, [("f32", (half,), 1, 50, 150), ("f32", (half,), 2, 50, 150),
                                            ("f32", (half,), 3, 0.1, 2)]),
        "sum_all": (w_sum_all, [("f32", (4 * n,), 1)]),
        "col_sum": (w_col_sum, [("f32", (n // 64, 64), 1)]),
        "batch_normalize": (w_batch_normalize, [("f32", (k, 1024), 1)]),
        "cross_entropy": (w_cross_entropy, [("bf16", (tokens, 32000), 1, -8, 8), ("i64", (tokens,), 2, 0, 32000)]),
        "adam_step": (w_adam_step, [("f32", (half,), 1), ("f32", (half,), 2), ("f32", (half,), 3),
                                    ("f32", (half,), 4, 0, 1)]),
        "jacobi2d": (w_jacobi2d, [("f32", side, 1)]),
        "transpose_add": (w_transpose_add, [("f32", side, 1), ("f32", side, 2)]),
        "rope": (w_rope, [("bf16", (8 if g else 1, 32, 2048, 128), 1), ("f32", (2048, 64), 2), ("f32", (2048, 64), 3)]),
        "dequant": (w_dequant, [("u8", (r, c), 1), ("f32", (r, 1), 2), ("f32", (r, 1), 3)]),
        "kmeans_assign": (w_kmeans_assign, [("f32", (65536 if g else 4096, 64), 1), ("f32", (256, 64), 2)]),
        "mandelbrot": (w_mandelbrot, [("f32", (n // 4,), 1, -2, 0.5), ("f32", (n // 4,), 2, -1.2, 1.2)]),
        "small_chain": (w_small_chain, [("f32", (1024,), 1)]),
        "mlp": (w_mlp, [("bf16", (rows, inner), 1), ("bf16", (inner, wide), 2, -.02, .02), ("bf16", (wide,), 3),
                        ("bf16", (wide, inner), 4, -.02, .02)]),
        "attention": (w_attention, [("bf16", heads, 1), ("bf16", heads, 2), ("bf16", heads, 3)]),
        "transformer_block": (w_transformer_block, [
            ("bf16", (b, s, d), 1), ("bf16", (d, 3 * d), 2, -.03, .03), ("bf16", (d, d), 3, -.03, .03),
            ("bf16", (d, 4 * d), 4, -.03, .03), ("bf16", (4 * d, d), 5, -.03, .03),
            ("f32", (d,), 6), ("f32", (d,), 7)]),
    }


def host_input(spec):
    """The input on the host; kept under $PEER_INPUTS, where set, so that several peers make it once."""
    keep = os.environ.get("PEER_INPUTS")
    path = keep and os.path.join(keep, "-".join(str(p) for p in spec).replace(" ", "") + ".npy")
    if path and os.path.exists(path):
        return np.load(path)
    h = make_input(spec)
    if path:
        os.makedirs(keep, exist_ok=True)
        np.save(path, h)
    return h


def make_input(spec):
    kind, shape, seed = spec[:3]
    lo, hi = spec[3:] if len(spec) > 3 else (-1.0, 1.0)
    if kind == "i64":
        return ints(shape, seed, hi)
    if kind == "u8":
        return ints(shape, seed, 256).astype(np.uint8)
    return fill(shape, seed, lo, hi)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--peer", required=True, choices=["torch-eager", "torch-compile", "torch-graph", "jax"])
    ap.add_argument("--device", default="cuda", choices=["cuda", "cpu"])
    ap.add_argument("--only", default="")
    ap.add_argument("--out", default="")
    ap.add_argument("--seconds", type=float, default=0.5, help="time spent on timing one workload")
    a = ap.parse_args()
    gpu = a.device == "cuda"
    rows = []
    if a.peer == "jax":
        if not gpu:
            os.environ["JAX_PLATFORMS"] = "cpu"
        os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
        import jax, jax.numpy as jnp
        jax.config.update("jax_enable_x64", False)
        if os.environ.get("PEER_CACHE"):
            jax.config.update("jax_compilation_cache_dir", os.environ["PEER_CACHE"])
            jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
            jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)
        o = jax_ops()
        put = lambda h, k: jnp.asarray(h, dtype={"bf16": jnp.bfloat16, "i64": jnp.int32}.get(k))
        wrap = lambda f: jax.jit(lambda *xs: f(o, *xs))
        sync = jax.block_until_ready
        scrub = lambda: None
    else:
        if os.environ.get("PEER_CACHE"):
            os.environ["TORCHINDUCTOR_CACHE_DIR"] = os.environ["PEER_CACHE"]
            os.environ["TRITON_CACHE_DIR"] = os.environ["PEER_CACHE"] + "/triton"
        import torch
        torch.set_grad_enabled(False)
        import torch._dynamo
        # every workload is compiled through one wrapper: without this the ninth falls back to eager
        for limit in ("recompile_limit", "cache_size_limit"):
            for name in (limit, "accumulated_" + limit):
                if hasattr(torch._dynamo.config, name):
                    setattr(torch._dynamo.config, name, 10000)
        o = torch_ops()
        put = lambda h, k: torch.from_numpy(h).to(a.device, torch.bfloat16 if k == "bf16" else None)
        mode = {"torch-compile": "default", "torch-graph": "reduce-overhead"}.get(a.peer)
        def wrap(f):
            call = lambda *xs: f(o, *xs)
            return torch.compile(call, mode=mode, dynamic=False) if mode else call
        def sync(x=None):
            if gpu:
                torch.cuda.synchronize()
            return x
    # throw-away compile: start-up of the peer's compiler stays out of first_ms
    t = wrap(lambda o, x: x * 2.0 + 3.0)
    sync(t(put(fill((1000,), 9), "f32"))); sync(t(put(fill((1000,), 9), "f32")))
    for name, (f, specs) in workloads(gpu).items():
        if a.only and name not in a.only.split(","):
            continue
        try:
            xs = [put(host_input(s), s[0]) for s in specs]
            fn = wrap(f)
            sync() if a.peer != "jax" else sync(xs)
            t0 = time.perf_counter(); y = sync(fn(*xs)); first = time.perf_counter() - t0
            for _ in range(3):
                y = sync(fn(*xs))
            t0 = time.perf_counter(); sync(fn(*xs)); one = max(time.perf_counter() - t0, 2e-6)
            reps = int(max(5, min(200, a.seconds / one)))
            runs, calls = [], []
            for _ in range(reps):
                if gpu and a.peer != "jax":
                    import torch
                    e0, e1 = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
                    e0.record()
                    t0 = time.perf_counter(); y = fn(*xs); calls.append(time.perf_counter() - t0)
                    e1.record()
                    torch.cuda.synchronize(); runs.append(e0.elapsed_time(e1) * 1e-3)
                else:
                    t0 = time.perf_counter(); y = fn(*xs); calls.append(time.perf_counter() - t0)
                    sync(y); runs.append(time.perf_counter() - t0)
            # back-to-back throughput: hides the host where the device is the limit
            t0 = time.perf_counter()
            for _ in range(reps):
                y = fn(*xs)
            sync(y); btb = (time.perf_counter() - t0) / reps
            y0 = y[0] if isinstance(y, tuple) else y
            y0 = jnp.asarray(y0, dtype=jnp.float32) if a.peer == "jax" else y0.float().cpu().numpy()
            v = np.asarray(y0).ravel()
            row = dict(peer=a.peer, device=a.device, workload=name, first_ms=round(first * 1e3, 3),
                       run_us=round(statistics.median(runs) * 1e6, 2), back_to_back_us=round(btb * 1e6, 2),
                       call_us=round(statistics.median(calls) * 1e6, 2), reps=reps,
                       check=[float(v[0]), float(v[v.size // 3]), float(v[-1])])
            del xs, y, y0
        except Exception as e:  # a peer that cannot run a workload is a row too
            row = dict(peer=a.peer, device=a.device, workload=name, error=(str(e) or repr(e)).splitlines()[0][:200])
        rows.append(row)
        print(json.dumps(row), flush=True)
    if a.out:
        with open(a.out, "w") as fh:
            json.dump(rows, fh, indent=1)


if __name__ == "__main__":
    main()
