# tests/python/random_reductions.py - what each reduction means, by NumPy.
"""Of numbers whose last axis but the components' is the one reduced."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bounded import Bounded, elementwise, moved

if TYPE_CHECKING:
    from collections.abc import Callable

POINTS = 3  # the axis that is reduced


def filled(a: Bounded, value: float) -> Bounded:
    """Of no points."""
    return Bounded(np.full_like(a.value.sum(POINTS), value))


def mean(a: Bounded) -> Bounded:
    count = a.value.shape[POINTS]
    return a.sum(POINTS).over(count) if count else filled(a, np.nan)


def product(a: Bounded) -> Bounded:
    size = np.abs(a.value)
    most = (size * (1 + 2 * a.unit) + a.error).prod(POINTS)
    return Bounded(
        a.value.prod(POINTS), most - size.prod(POINTS), a.unit
    ).rounded(a.value.prod(POINTS), most - size.prod(POINTS))


def extreme(pick: Callable, empty: float) -> Callable[[Bounded], Bounded]:
    def reduced(a: Bounded) -> Bounded:
        if not a.value.shape[POINTS]:
            return filled(a, empty)
        return Bounded(
            pick(a.value, POINTS), moved(lambda v: pick(v, POINTS), a), a.unit
        )

    return reduced


def smallest(a: Bounded, k: int) -> tuple[np.ndarray, np.ndarray]:
    """The indices of the k smallest, -1 beyond, and how unsure they are."""
    count = a.value.shape[POINTS]
    if not count:
        none = np.full((*a.value.shape[:POINTS], k), -1)
        return none, np.zeros(none.shape)
    order = np.argsort(a.value, POINTS, kind="stable")
    values = np.take_along_axis(a.value, order, POINTS)
    errors = np.take_along_axis(a.error, order, POINTS)
    gap = np.diff(values, axis=POINTS)
    reach = np.maximum.accumulate(values + errors, POINTS)[..., :-1]
    floor = np.minimum.accumulate((values - errors)[..., ::-1], POINTS)
    floor = floor[..., ::-1][..., 1:]
    apart = (gap > 0) & (reach < floor)
    exact = ~a.error.any(POINTS, keepdims=True)
    sure = apart | exact
    ones = np.ones((*values.shape[:POINTS], 1), bool)
    sure = np.concatenate([ones, sure], POINTS) & np.concatenate(
        [sure, ones], POINTS
    )
    missing = max(k - count, 0)
    pad = [(0, 0)] * POINTS + [(0, missing)]
    indices = np.pad(order[..., :k], pad, constant_values=-1)
    unsure = np.pad(~sure[..., :k], pad)
    return indices, np.where(unsure, np.inf, 0.0)


def arg_extreme(sign: int) -> Callable[[Bounded], Bounded]:
    def reduced(a: Bounded) -> Bounded:
        # Components before points, so that points are last.
        b = -a if sign < 0 else a
        b = b.shaped(lambda v: np.moveaxis(v, POINTS, -1))
        shape = b.value.shape
        rows = int(np.prod(shape[2:-1]))
        flat = b.shaped(lambda v: v.reshape(*shape[:2], rows, shape[-1]))
        indices, unsure = smallest(flat, 1)
        return Bounded(
            indices.reshape(shape[:-1]), unsure.reshape(shape[:-1]), a.unit
        )

    return reduced


def k_smallest(a: Bounded, k: int) -> Bounded:
    def pick(v: np.ndarray) -> np.ndarray:
        pad = [(0, 0)] * POINTS + [(0, max(k - v.shape[POINTS], 0))]
        return np.pad(np.sort(v, POINTS)[..., :k], pad, constant_values=np.inf)

    return Bounded(pick(a.value), moved(pick, a), a.unit)


def arg_k_smallest(a: Bounded, k: int) -> Bounded:
    return Bounded(*smallest(a, k), a.unit)


def weights_of(a: Bounded) -> tuple[Bounded, np.ndarray]:
    """exp(f - m), and m."""
    most = a.value.max(POINTS, keepdims=True)
    shifted = Bounded(
        a.value - most, a.error + 2 * a.unit * np.abs(a.value), a.unit
    )
    return elementwise(np.exp, shifted), most.squeeze(POINTS)


def log_sum_exp(a: Bounded, *weights: Bounded) -> Bounded:
    if not a.value.shape[POINTS]:
        return filled(a, -np.inf)
    terms, most = weights_of(a)
    for weight in weights:
        terms = terms * weight
    result = elementwise(np.log, terms.sum(POINTS))
    # The logarithm of a sum near 1 is near 0, its error is not.
    result.error = result.error + 4 * a.unit
    return result + Bounded(most, unit=a.unit)


def soft_max(a: Bounded, v: Bounded) -> Bounded:
    if not a.value.shape[POINTS]:
        return filled(v, np.nan)
    terms, _ = weights_of(a)
    total = terms.sum(POINTS)
    if v.value.ndim > terms.value.ndim:
        terms = terms.shaped(lambda t: t[..., None])
        total = total.shaped(lambda t: t[..., None])
    return (terms * v).sum(POINTS) / total


def variance(a: Bounded) -> Bounded:
    if not a.value.shape[POINTS]:
        return filled(a, np.nan)
    from_mean = a - mean(a).shaped(lambda v: np.expand_dims(v, POINTS))
    return mean(from_mean * from_mean)


def peak_to_peak(a: Bounded) -> Bounded:
    if not a.value.shape[POINTS]:
        return filled(a, np.nan)
    return extreme(np.max, -np.inf)(a) - extreme(np.min, np.inf)(a)


def log_mean_exp(a: Bounded) -> Bounded:
    count = a.value.shape[POINTS]
    if not count:
        return filled(a, np.nan)
    return log_sum_exp(a) - Bounded(np.log(count), unit=a.unit)


def truths(function: Callable) -> Callable[[Bounded], Bounded]:
    def reduced(a: Bounded) -> Bounded:
        sure = a.error == 0
        low = function((a.value != 0) & sure, POINTS)
        high = function((a.value != 0) | ~sure, POINTS)
        value = np.asarray(function(a.value != 0, POINTS), np.float64)
        return Bounded(value, np.abs(np.float64(high) - np.float64(low)))

    return reduced


# Of the body, and of what comes after it: weights, values, K.
REDUCTIONS: dict[str, Callable[..., Bounded]] = {
    "sum": lambda a: a.sum(POINTS),
    "mean": mean,
    "prod": product,
    "max": extreme(np.max, -np.inf),
    "min": extreme(np.min, np.inf),
    "argmax": arg_extreme(-1),
    "argmin": arg_extreme(1),
    "logsumexp": log_sum_exp,
    "softmax": soft_max,
    "kmin": k_smallest,
    "argkmin": arg_k_smallest,
    "any": truths(np.any),
    "all": truths(np.all),
    "count": truths(np.sum),
    "kmax": lambda a, k: -k_smallest(-a, k),
    "argkmax": lambda a, k: arg_k_smallest(-a, k),
    "var": variance,
    "std": lambda a: elementwise(np.sqrt, variance(a)),
    "ptp": peak_to_peak,
    "logmeanexp": log_mean_exp,
}


def of_some(name: str, empty: float) -> Callable[[Bounded], Bounded]:
    """Where all are numbers; of nothing `empty`."""

    def reduced(a: Bounded) -> Bounded:
        if not a.value.shape[POINTS]:
            return filled(a, empty)
        return REDUCTIONS[name](a)

    return reduced


def median(a: Bounded) -> Bounded:
    if not a.value.shape[POINTS]:
        return filled(a, np.nan)

    def pick(v: np.ndarray) -> np.ndarray:
        return np.median(v, POINTS)

    value = pick(a.value)
    return Bounded(value, moved(pick, a), a.unit).rounded(
        value, moved(pick, a), np.abs(a.value).max(POINTS)
    )


# Those that other tests are made around; here their numbers are finite.
OTHERS: dict[str, Callable[..., Bounded]] = {
    "median": median,
    "nansum": of_some("sum", 0.0),
    "nanmean": of_some("mean", np.nan),
    "nanvar": of_some("var", np.nan),
    "nanstd": of_some("std", np.nan),
    "nanmax": of_some("max", np.nan),
    "nanmin": of_some("min", np.nan),
}
TRUTHS = {"any", "all", "count"}
INDICES = {"argmax", "argmin", "argkmin", "argkmax", "count"}
SCALARS = {
    "logsumexp",
    "softmax",
    "logmeanexp",
    "kmin",
    "kmax",
    "argkmin",
    "argkmax",
    *OTHERS,
}
WITH_COUNT = {"kmin", "kmax", "argkmin", "argkmax"}
SMOOTH = ["sum", "mean", "prod", "logsumexp", "softmax", "var", "logmeanexp"]
