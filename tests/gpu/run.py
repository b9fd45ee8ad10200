# tests/gpu/run.py - the table of the language on a card, against NumPy.
"""python tests/gpu/run.py [--cases N] [--only NUMBER …] [--output FILE.json]

Needs a card, its driver and NVRTC; no array library and no network. Without
a card it says so and ends with 0. Each case is a random formula around a row
of the tables of operations, functions and reductions, of random arrays,
dtypes, strides and batches, as in tests/python/test_random_formulas.py; a
result may be a few units farther from NumPy's than there, since functions of
CUDA are correct to 1 or 2 units in the last place. Arrays are on the card, and
then in the host's memory once more, from which all cards take pieces.

`scripts/test --gpu` runs this, and some of it again under compute-sanitizer.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]
TESTS = ROOT / "tests"
sys.path[:0] = [str(ROOT), str(TESTS / "python"), str(TESTS / "tools")]

import numpy as np  # noqa: E402
from bench.card import Card, NoCard  # noqa: E402

import tilefold  # noqa: E402
from random_terms import Case, all_rows  # noqa: E402
from test_random_formulas import allowed, case  # noqa: E402
from tilefold.roles import Role  # noqa: E402

UNITS = 4  # as often as the bound of the CPU
NO_CODE = {"CudaCannot"}  # what the backend says that it has no code for


def main(words: list[str] | None = None) -> int:
    options = parse(words)
    try:
        card = Card()
    except NoCard as reason:
        print(reason)
        return 0
    results = [
        examine(card, number) for number in options.only or range(options.cases)
    ]
    outcomes = [result["outcome"] for result in results]
    summary = {name: outcomes.count(name) for name in sorted(set(outcomes))}
    report = {"card": card.name, "cases": results, "outcomes": summary}
    options.output.parent.mkdir(parents=True, exist_ok=True)
    options.output.write_text(json.dumps(report, indent=1) + "\n")
    for result in results:
        if result["outcome"] in {"wrong", "failed"}:
            print(f"{result['outcome']} {result['number']}: {result['why']}")
    print(f"{card.name}: {summary}; {options.output}")
    card.close()
    return 1 if {"wrong", "failed"} & set(outcomes) else 0


def parse(words: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=2 * len(all_rows()))
    parser.add_argument("--only", type=int, nargs="*", metavar="NUMBER")
    parser.add_argument(
        "--output",
        type=Path,
        default=ROOT / "build" / "gpu" / "results.json",
    )
    return parser.parse_args(words)


def examine(card: Card, number: int) -> dict:
    """A case by its number: what came of it."""
    tried = case(number)
    found = {"number": number, "formula": tried.text, "outcome": "right"}
    begin = time.perf_counter()
    try:
        wrong = compare(card, tried)
    except NotForCards as reason:
        return found | {"outcome": "left out", "why": str(reason)}
    except tilefold.Error as error:
        outcome = "no code" if error.code in NO_CODE else "failed"
        return found | {"outcome": outcome, "why": str(error)}
    if wrong:
        found |= {"outcome": "wrong", "why": f"{wrong}\n{tried.describe()}"}
    return found | {"seconds": round(time.perf_counter() - begin, 3)}


class NotForCards(Exception):  # noqa: N818 - cases that are about the host
    """A case whose arrays no card holds."""


def on_card(card: Card, value):
    """Arrays on the card; numbers and parameters of no axis may stay."""
    if isinstance(value, Role):
        return Role(on_card(card, value.value), value.axes)
    if hasattr(value, "codes"):
        raise NotForCards("quantised arrays")
    if hasattr(value, "detach"):
        value = (
            bits_of_bfloat16(value)
            if "bfloat16" in str(value.dtype)
            else value.numpy()
        )
    if not isinstance(value, np.ndarray | np.generic | list):
        return value
    array = np.asarray(value)
    if not array.dtype.isnative:
        raise NotForCards("numbers of the other order of bytes")
    return card.put(array)


def bits_of_bfloat16(tensor):
    import torch

    bits = tensor.view(torch.int16).numpy()
    return bits.view("V2")


def compare(card: Card, tried: Case) -> str:
    """What is wrong with the results of arrays on the card, and of arrays of
    the host that come to it in pieces; "" for nothing."""
    arrays = {name: on_card(card, v) for name, v in tried.arrays.items()}
    result = compute(tried, arrays)
    if not isinstance(result, tilefold.DeviceArray):
        raise NotForCards("arrays on no axis")
    found = difference(card.get(result), tried)
    if found:
        return found
    pieces = tilefold.Options(devices="cuda", device_bytes=1 << 18)
    result = compute(tried, tried.arrays, tilefold.Session(pieces))
    found = difference(np.asarray(result), tried)
    return found and f"arrays of the host: {found}"


def compute(tried: Case, arrays: dict, session: tilefold.Session | None = None):
    if tried.kernel:
        return tilefold.kernel(tried.text, session=session, **arrays).dense()
    return tilefold.reduce(tried.text, session=session, **arrays)


def difference(got: np.ndarray, tried: Case) -> str:
    wanted = tried.wanted
    if got.shape != wanted.value.shape:
        return f"shape {got.shape}, not {wanted.value.shape}"
    numbers = got.astype(np.float64)
    value = wanted.value
    if got.dtype.kind == "i":  # an infinity is the end of int64
        value = np.clip(value, -(2.0**63), 2.0**63)
    with np.errstate(invalid="ignore"):
        far = ~(
            np.abs(numbers - value) <= UNITS * allowed(wanted, str(got.dtype))
        )
    same = (numbers == value) | (np.isnan(numbers) & np.isnan(value))
    wrong = far & ~same & ~np.isinf(wanted.error)
    if not wrong.any():
        return ""
    return f"got {numbers[wrong][:5]}, wanted {value[wrong][:5]}"


if __name__ == "__main__":
    sys.exit(main())
