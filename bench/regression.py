# bench/regression.py - python -m bench.regression: coarse limits of speed.
"""Is tilefold about as fast as it was, beside others in the same run?

Limits are half of what was measured, in bench/RESULTS.md or on a Zen 3, so that
a miss is a plan or a kernel that went wrong, not a noisy minute; each function
has one beside exp, too. A ratio that misses its limit is measured once more.
Results are kept nowhere. Takes some minutes, alone on the machine; with --some
a quarter of them, of a quarter of the cases, which a word chooses.
"""

from __future__ import annotations

import argparse
import random
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

from bench import catalogue, function_limits, native
from bench.harness import Settings, run_case, say

if TYPE_CHECKING:
    from collections.abc import Sequence

SAMPLES = 5
PATIENCE = 5.0  # seconds a case waits for a quiet machine


class Limit(NamedTuple):
    """How many times faster than a contender tilefold has to be."""

    case: str
    contender: str
    least: float


LIMITS = [
    Limit("gaussian_d3_f32", "roofline", 0.42),
    Limit("gaussian_d3_f32", "numpy", 5),
    Limit("gaussian_d3_f64", "roofline", 0.42),
    Limit("gaussian_d16_f32", "roofline", 0.48),
    Limit("gaussian_d64_f32", "roofline", 0.49),
    Limit("gaussian_d64_f32", "torch_addmm", 0.8),
    Limit("wide_e64", "roofline", 0.5),
    Limit("attention_d64", "torch_sdpa", 0.6),
    Limit("attention_d64", "roofline", 0.45),
    Limit("neighbors_d3", "roofline", 0.18),
    Limit("neighbors_d16", "roofline", 0.35),
    Limit("reductions_logsumexp", "roofline", 0.4),
    Limit("reductions_argmin", "roofline", 0.5),
    Limit("reductions_max", "roofline", 0.5),
    Limit("batches_30", "roofline", 0.35),
    Limit("few_points_n1", "numpy", 7),
    Limit("functions_tanh_f32", "jax_chunked", 0.9),
    Limit("functions_erf_f32", "jax_chunked", 1.5),
    Limit("functions_power_f32", "jax_chunked", 1.4),
    Limit("functions_log_f64", "jax_chunked", 0.8),
    Limit("functions_sin_f64", "jax_chunked", 2.5),
    Limit("functions_lgamma_f32", "jax_chunked", 1.2),
    Limit("functions_softplus_f32", "jax_chunked", 1.5),
    Limit("functions_sinh_f64", "jax_chunked", 1.2),
    Limit("networks_16x1_tanh", "jax_chunked", 1),
    Limit("networks_24x2_relu", "jax_chunked", 1.7),
    Limit("kernel_product_n2000_d10", "torch_broadcast", 70),
    Limit("call_overhead", "numpy", 13),
]


def main() -> int:
    """Prints a line for each limit; 1 if one is missed or nothing was met."""
    parser = argparse.ArgumentParser(
        "python -m bench.regression", description=__doc__
    )
    parser.add_argument("--some", metavar="WORD", help="a quarter of the cases")
    word = parser.parse_args().some
    if unbuilt := native.build_roofline():
        say(unbuilt)
    missed: list[Any] = []
    met = 0
    for case in _some(sorted({limit.case for limit in LIMITS}), word):
        limits = [limit for limit in LIMITS if limit.case == case]
        again = _misses(limits, _measure(case, limits))
        if again:
            say(f"{case}: once more")
            again = _misses(again, _measure(case, again))
        missed += again
        met += len(limits) - len(again)
    functions = _some(function_limits.read_limits(), word)
    for limit, wrong in function_limits.checked(functions):
        if wrong:
            print(f"{limit}: {wrong}  MISSED", flush=True)
            missed.append(limit)
        else:
            met += 1
    print(f"{met} limits of speed passed, {len(missed)} missed")
    return 1 if missed or not met else 0


def _some(cases: list[Any], word: str | None) -> list[Any]:
    """A quarter, the same for the same word; all without one."""
    if word is None:
        return cases
    return random.Random(word).sample(cases, -(-len(cases) // 4))


def _measure(case: str, limits: Sequence[Limit]) -> dict[str, Any]:
    """The rows of tilefold and of these contenders."""
    names = ("tilefold", *(limit.contender for limit in limits))
    settings = Settings(
        patience=PATIENCE, contenders=names, most_samples=SAMPLES
    )
    rows = run_case(catalogue.select([case])[0], settings)["contenders"]
    return dict(rows)


def _misses(limits: Sequence[Limit], rows: dict[str, Any]) -> list[Limit]:
    """Those not reached; a contender that is absent has no limit."""
    missed = []
    for limit in limits:
        ratio = ratio_of(rows, limit.contender)
        if ratio is None and rows[limit.contender]["status"] == "absent":
            said = "absent"
        else:
            good = ratio is not None and ratio >= limit.least
            said = f"{ratio or 0:.2f}, at least {limit.least}"
            said += "" if good else "  MISSED"
            missed += [] if good else [limit]
        print(f"{limit.case} beside {limit.contender}: {said}", flush=True)
    return missed


def ratio_of(rows: dict[str, Any], contender: str) -> float | None:
    """The contender's median time by that of tilefold, both right."""
    found = [rows[name] for name in (contender, "tilefold")]
    if any(row["status"] not in {"ok", "disturbed"} for row in found):
        return None
    other, own = (row["seconds"]["median"] for row in found)
    return float(other / own)


if __name__ == "__main__":
    sys.exit(main())
