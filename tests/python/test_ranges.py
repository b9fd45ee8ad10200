# tests/python/test_ranges.py - block sparsity: values, derivatives, refusals.
"""Chosen pairs against dense arrays with a mask."""
# ruff: noqa: ARG005 - every reference takes all arrays

from __future__ import annotations

import time

import numpy as np
import pytest
import torch

import tilefold

rng = np.random.default_rng(11)


def grid(n: int, m: int, density: float = 0.5, batch=()) -> tilefold.Ranges:
    """Tiles of random sizes, some of them empty, some points in none."""
    i = np.sort(rng.choice(n + 1, size=6, replace=True))
    j = np.sort(rng.choice(m + 1, size=5, replace=True))
    return tilefold.Ranges(i, j, rng.random((*batch, 5, 4)) < density)


def points(n: int, m: int, dtype=np.float64):
    x = rng.normal(size=(n, 3)).astype(dtype)
    y = rng.normal(size=(m, 3)).astype(dtype)
    return x, y, rng.normal(size=m).astype(dtype)


def distances(x, y):
    return ((x[:, None] - y[None]) ** 2).sum(-1)


CASES = {
    "sum_j exp(-|x_i - y_j|²) b_j": lambda d, b, w: (np.exp(-d) * b * w).sum(1),
    "max_j (|x_i - y_j|² b_j)": lambda d, b, w: np.where(w, d * b, -np.inf).max(
        1, initial=-np.inf
    ),
    "min_j |x_i - y_j|²": lambda d, b, w: np.where(w, d, np.inf).min(
        1, initial=np.inf
    ),
    "logsumexp_j(-|x_i - y_j|²)": lambda d, b, w: np.log(
        (np.exp(-d) * w).sum(1)
    ),
    "softmax_j(-|x_i - y_j|², b_j)": lambda d, b, w: (
        (np.exp(-d) * b * w).sum(1) / (np.exp(-d) * w).sum(1)
    ),
    "mean_j (|x_i - y_j|² b_j)": lambda d, b, w: (d * b * w).sum(1) / w.sum(1),
    "count_j (|x_i - y_j|² < 2)": lambda d, b, w: ((d < 2) * w).sum(1),
    "prod_j (1 + b_j + 0*x_i[0])": lambda d, b, w: np.where(
        w, 1 + b + 0 * d, 1
    ).prod(1),
    "sum_j b_j": lambda d, b, w: (b * w).sum(1),
    "sum_i exp(-|x_i - y_j|²)": lambda d, b, w: (np.exp(-d) * w).sum(0),
    "sum_ij exp(-|x_i - y_j|²) b_j": lambda d, b, w: (np.exp(-d) * b * w).sum(),
    "mean_ij |x_i - y_j|²": lambda d, b, w: (d * w).sum() / w.sum(),
    "max_ij |x_i - y_j|²": lambda d, b, w: np.where(w, d, -np.inf).max(
        initial=-np.inf
    ),
    "c + (sum_j exp(-|x_i - y_j|²) b_j) / (sum_j b_j*b_j)": lambda d, b, w: (
        0.25 + (np.exp(-d) * b * w).sum(1) / (b * b * w).sum(1)
    ),
    "var_j (|x_i - y_j|² b_j)": lambda d, b, w: (
        ((d * b) ** 2 * w).sum(1) / w.sum(1)
        - ((d * b * w).sum(1) / w.sum(1)) ** 2
    ),
}


def arguments(text: str, **given):
    formula = tilefold.compile(text)
    return {name: given[name] for name, _ in formula.names}


@pytest.mark.parametrize("text", CASES)
@pytest.mark.parametrize("size", [(1, 1), (37, 51), (700, 1300), (2100, 90)])
def test_values(text: str, size: tuple[int, int]) -> None:
    """Every reduction is over the pairs that are met."""
    x, y, b = points(*size)
    ranges = grid(*size)
    mask = ranges.mask(*size)
    with np.errstate(divide="ignore", invalid="ignore"):
        expected = CASES[text](distances(x, y), b, mask)
    given = arguments(text, x=x, y=y, b=b, c=0.25)
    if "x" not in given:
        given["x"] = x
        text = f"0*x_i[0] + ({text})"
    found = tilefold.reduce(text, given, ranges=ranges)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


def test_the_interpreter_agrees() -> None:
    """`check` recomputes rows over the same pairs."""
    x, y, b = points(300, 800)
    f = tilefold.compile("sum_j exp(-|x_i - y_j|²) b_j")
    assert f.check(x=x, y=y, b=b, ranges=grid(300, 800), rows=300) < 1e-12


def test_intervals_of_each_tile() -> None:
    """Tiles with ranges of their own, in any order."""
    x, y, b = points(100, 200)
    ranges = tilefold.Ranges.from_intervals(
        [[60, 90], [0, 20]],
        [0, 3, 5],
        [[150, 200], [3, 9], [9, 11], [40, 80], [10, 30]],
    )
    mask = np.zeros((100, 200), bool)
    for rows, columns in [
        ((60, 90), (150, 200)),
        ((60, 90), (3, 11)),
        ((0, 20), (40, 80)),
        ((0, 20), (10, 30)),
    ]:
        mask[slice(*rows), slice(*columns)] = True
    assert (ranges.mask(100, 200) == mask).all()
    assert (ranges.T.mask(200, 100) == mask.T).all()
    assert ranges.pairs == mask.sum()
    kernel = tilefold.kernel("exp(-|x_i - y_j|²)", x=x, y=y, ranges=ranges)
    dense = np.exp(-distances(x, y)) * mask
    np.testing.assert_allclose(kernel @ b, dense @ b, rtol=1e-12)
    v = rng.normal(size=(100, 3))
    np.testing.assert_allclose(kernel.T @ v, dense.T @ v, rtol=1e-12)
    double = 2 * kernel.T
    np.testing.assert_allclose(double @ v, 2 * dense.T @ v, rtol=1e-12)


def test_indices_are_those_of_all_points() -> None:
    """argkmin and index symbols count the points, not those that are met."""
    x, y, _ = points(50, 70)
    ranges = tilefold.Ranges([0, 25, 50], [0, 30, 70], np.eye(2, dtype=bool))
    found = tilefold.reduce(
        "argkmin_j(|x_i - y_j|², 3)", x=x, y=y, ranges=ranges
    )
    d = np.where(ranges.mask(50, 70), distances(x, y), np.inf)
    assert (found == np.argsort(d, axis=1)[:, :3]).all()
    found = tilefold.reduce(
        "sum_j (j + 0*x_i[0]*y_j[0])", x=x, y=y, ranges=ranges
    )
    np.testing.assert_allclose(found, ranges.mask(50, 70) @ np.arange(70.0))


@pytest.mark.parametrize("threads", [1, 2, 3, 8])
def test_any_number_of_threads_gives_the_same_bits(threads: int) -> None:
    """The cut is a function of sizes and ranges."""
    x, y, b = (a.astype(np.float32) for a in points(3000, 4000))
    visit = np.random.default_rng(0).random((30, 40)) < 0.3
    ranges = tilefold.Ranges(
        np.arange(0, 3001, 100), np.arange(0, 4001, 100), visit
    )
    for text in (
        "sum_j exp(-|x_i - y_j|²) b_j",
        "sum_ij exp(-|x_i - y_j|²) b_j",
    ):
        one = tilefold.reduce(
            text,
            x=x,
            y=y,
            b=b,
            ranges=ranges,
            options=tilefold.Options(threads=1),
        )
        many = tilefold.reduce(
            text,
            x=x,
            y=y,
            b=b,
            ranges=ranges,
            options=tilefold.Options(threads=threads),
        )
        assert np.asarray(one).tobytes() == np.asarray(many).tobytes()


@pytest.mark.parametrize("batch", [(), (3,), (2, 1), (1, 3), (2, 3)])
@pytest.mark.parametrize("own", [(), (3,), (2, 1), (2, 3)])
def test_batches_broadcast(batch, own) -> None:
    """Ranges have batches like any argument."""
    if batch == own == ():
        return
    n, m = 40, 60
    x = rng.normal(size=(*batch, n, 2))
    y = rng.normal(size=(m, 2))
    b = rng.normal(size=(m, 2))
    ranges = grid(n, m, batch=own)
    mask = ranges.mask(n, m)
    k = np.exp(-((x[..., :, None, :] - y[..., None, :, :]) ** 2).sum(-1))
    found = tilefold.reduce(
        "sum_j exp(-|x_i - y_j|²) b_j", x=x, y=y, b=b, ranges=ranges
    )
    np.testing.assert_allclose(found, (k * mask) @ b, rtol=1e-10, atol=1e-12)
    total = tilefold.reduce(
        "sum_ij exp(-|x_i - y_j|²)", x=x, y=y, ranges=ranges
    )
    np.testing.assert_allclose(total, (k * mask).sum((-1, -2)), rtol=1e-10)


def squared(x, y):
    return ((x[:, None] - y[None]) ** 2).sum(-1)


GRADIENTS = {
    "sum_j exp(-|x_i - y_j|²/l) b_j": lambda x, y, b, l, w: (
        torch.exp(-squared(x, y) / l) * b * w
    ).sum(1),
    "mean_j (|x_i - y_j|² b_j l)": lambda x, y, b, l, w: (
        (squared(x, y) * b * l * w).sum(1) / w.sum(1).clamp(min=1e-300)
    ),
    "logsumexp_j(-|x_i - y_j|²*l + b_j)": lambda x, y, b, l, w: torch.logsumexp(
        torch.where(w > 0, -squared(x, y) * l + b, -torch.inf), 1
    ),
    "sum_j b_j*l*x_i[0]": lambda x, y, b, l, w: (b * l * w * x[:, :1]).sum(1),
    "sum_i (x_i[0]*b_j*l)": lambda x, y, b, l, w: (x[:, :1] * b * l * w).sum(0),
    "sum_ij exp(-|x_i - y_j|²/l) b_j": lambda x, y, b, l, w: (
        torch.exp(-squared(x, y) / l) * b * w
    ).sum(),
    "sum_j exp(-|x_i - x_j|²*l)": lambda x, y, b, l, w: (
        torch.exp(-squared(x, x) * l) * w
    ).sum(1),
}


@pytest.mark.parametrize("text", GRADIENTS)
def test_gradients(text: str) -> None:
    """First and second order, by every argument, are over the same pairs."""
    n = m = 30
    i = [0, 4, 11, 23, 30]
    j = [0, 9, 10, 22, 30]
    visit = rng.random((4, 4)) < 0.5
    visit[np.arange(4), np.arange(4)] = True
    ranges = tilefold.Ranges(i, j, visit)
    mask = torch.tensor(ranges.mask(n, m), dtype=torch.float64)
    x, y, b = (torch.tensor(a) for a in points(n, m))
    ell = torch.tensor(0.8, dtype=torch.float64)
    names = [name for name, _ in tilefold.compile(text).names]
    both = []
    for evaluate in (
        lambda x, y, b, ell: tilefold.reduce(
            text,
            {
                k: v
                for k, v in {"x": x, "y": y, "b": b, "l": ell}.items()
                if k in names
            },
            ranges=ranges,
        ),
        lambda x, y, b, ell: GRADIENTS[text](x, y, b, ell, mask),
    ):
        leaves = [t.clone().requires_grad_() for t in (x, y, b, ell)]
        value = evaluate(*leaves)
        wanted = [
            leaf
            for leaf, name in zip(leaves, "xybl", strict=True)
            if name in names
        ]
        weights = torch.linspace(0.5, 2, value.numel(), dtype=torch.float64)
        first = torch.autograd.grad(
            (value.reshape(-1) * weights).sum(), wanted, create_graph=True
        )
        scalar = sum((g**2).sum() for g in first)
        second = torch.autograd.grad(scalar, wanted, allow_unused=True)
        both.append((value, *first, *second))
    for found, expected in zip(*both, strict=True):
        if found is None or expected is None:  # no derivative: zero
            for one in (found, expected):
                assert one is None or one.abs().max() < 1e-12
            continue
        torch.testing.assert_close(found, expected, rtol=1e-8, atol=1e-10)


@pytest.mark.timing
def test_time_is_that_of_the_pairs_that_are_met() -> None:
    """A tenth of the tiles takes far less than all of them."""
    n = 20_000
    x = rng.normal(size=(n, 3)).astype(np.float32)
    tiles = np.arange(0, n + 1, 500)
    few = tilefold.Ranges(tiles, tiles, np.eye(len(tiles) - 1, dtype=bool))
    text = "sum_j exp(-|x_i - x_j|²)"

    def seconds(**settings) -> float:
        start = time.perf_counter()
        tilefold.reduce(text, x=x, **settings)
        return time.perf_counter() - start

    seconds(ranges=few), seconds()
    some = min(seconds(ranges=few) for _ in range(5))
    everything = min(seconds() for _ in range(5))
    assert some < 0.3 * everything  # 1/40 of the pairs


of_intervals = tilefold.Ranges.from_intervals
FAR = 2**63 - 1
MALFORMED = [
    (tilefold.Ranges, ([0, 5], [0, 7], [[True, True]]), "visit of the ranges"),
    (tilefold.Ranges, ([0, 5], [0, 7], [[1.0]]), "float64"),
    (tilefold.Ranges, ([0.5, 5], [0, 7], [[True]]), "float64 as i"),
    (tilefold.Ranges, ([5, 0], [0, 7], [[True]]), r"\[5, 0\)"),
    (tilefold.Ranges, ([-1, 3], [0, 7], [[True]]), r"\[-1, 3\)"),
    (
        tilefold.Ranges,
        ([[0, 5], [4, 9]], [0, 7], [[True], [True]]),
        "overlap",
    ),
    (tilefold.Ranges, ([[0, 5, 6]], [0, 7], [[True]]), "i of the ranges has"),
    (of_intervals, ([[0, 5]], [0, 2], [[0, 5], [4, 7]]), "overlap"),
    (of_intervals, ([[0, 5]], [0, 3], [[0, 5], [5, 7]]), "do not cut 2"),
    (of_intervals, ([[0, 5]], [0], [[0, 5]]), "offsets of the ranges has"),
    # Differences that no integer holds:
    (of_intervals, ([[0, 5], [5, 9]], [0, FAR, 1], [[0, 5]]), "do not cut 1"),
    (of_intervals, ([[0, 5], [5, 9]], [0, -2, 1], [[0, 5]]), "do not cut 1"),
    (
        of_intervals,
        ([[0, 5], [5, 7], [7, 9]], [0, FAR, -2, 1], [[0, 5]]),
        "do not cut 1",
    ),
    (of_intervals, ([[0, -2]], [0, 1], [[0, 5]]), r"\[0, -2\)"),
    (of_intervals, ([[FAR, -2]], [0, 1], [[0, 5]]), r"-2\)"),
    (of_intervals, ([[0, 5]], [0, 1], [[-FAR - 1, FAR]]), "a range on j"),
    (tilefold.Ranges, ([0, FAR, -2], [0, 7], [[True]] * 2), r"-2\)"),
    (
        tilefold.Ranges,
        (np.array([0, 2**63 + 5], np.uint64), [0, 7], [[True]]),
        "9223372036854775813 as one of i",
    ),
    (tilefold.Ranges, ([0, 2**64], [0, 7], [[True]]), "object as i"),
]


@pytest.mark.parametrize(("make", "given", "text"), MALFORMED)
def test_malformed_ranges(make, given, text: str) -> None:
    """Ranges are checked when they are made."""
    with pytest.raises(tilefold.Error, match=text):
        make(*given)


def test_ranges_that_end_at_the_last_integer() -> None:
    """They are as good as any, for as many points."""
    far = tilefold.Ranges([0, FAR], [0, FAR], [[True]])
    assert far.T.pairs == far.pairs == float(FAR) ** 2
    with pytest.raises(tilefold.ArgumentError, match=f"end at {FAR}, but"):
        tilefold.reduce("sum_j x_i*y_j", x=np.ones(9), y=np.ones(4), ranges=far)
    with pytest.raises(tilefold.ArgumentError, match=f"end at {FAR}, but"):
        tilefold.reduce(
            "sum_ij x_i*y_j", x=np.ones(9), y=np.ones(4), ranges=far
        )


def test_folded_rows_of_no_tile_take_no_time() -> None:
    """Of 10^15 rows, five are met."""
    x = np.broadcast_to(1.0, (10**15,))
    few = tilefold.Ranges([10**14, 10**14 + 5], [0, 3], [[True]])
    assert (
        tilefold.reduce("sum_ij x_i*y_j", x=x, y=np.ones(4), ranges=few) == 15
    )


def test_ranges_that_do_not_suit_the_call() -> None:
    """They end where the points end; something is reduced."""
    x, y, b = points(10, 20)
    ranges = tilefold.Ranges([0, 11], [0, 20], [[True]])
    text = "sum_j exp(-|x_i - y_j|²) b_j"
    with pytest.raises(tilefold.ArgumentError, match="end at 11, but"):
        tilefold.reduce(text, x=x, y=y, b=b, ranges=ranges)
    with pytest.raises(tilefold.ArgumentError, match="end at 11, but"):
        tilefold.compile(text).grad("b")(x=x, y=y, b=b, grad=1.0, ranges=ranges)
    with pytest.raises(tilefold.ArgumentError, match="end at 20, but"):
        tilefold.reduce(
            text,
            x=x,
            y=y[:9],
            b=b[:9],
            ranges=tilefold.Ranges([0, 5], [0, 20], [[True]]),
        )
    with pytest.raises(tilefold.FormulaError, match="the formula reduces none"):
        tilefold.reduce("sin(x_i)", x=x, ranges=ranges)
    with pytest.raises(tilefold.ArgumentError, match=r"tilefold\.Ranges"):
        tilefold.reduce(text, x=x, y=y, b=b, ranges=[0, 5])
    batched = tilefold.Ranges([0, 10], [0, 20], np.ones((3, 1, 1), bool))
    with pytest.raises(tilefold.ShapeError, match="do not broadcast"):
        tilefold.reduce(
            text,
            x=x[None].repeat(2, 0),
            y=y,
            b=b[None, :, None],
            ranges=batched,
        )
    kernel = tilefold.kernel("exp(-|x_i - y_j|²)", x=x, y=y, ranges=ranges)
    for read in (kernel.dense, lambda: kernel[0]):
        with pytest.raises(tilefold.ArgumentError, match="reads elements"):
            read()
    with pytest.raises(tilefold.ArgumentError, match="different ranges"):
        kernel + tilefold.kernel("exp(-|x_i - y_j|²)", x=x, y=y)


def test_rows_that_meet_nothing_have_no_place() -> None:
    """Its index is -1; of equal values, it is the first that is met."""
    rng = np.random.default_rng(4)
    x, y = rng.random((60, 3)), rng.random((90, 3))
    visit = np.array([[False, True, False], [False] * 3, [True, False, True]])
    ranges = tilefold.Ranges([0, 20, 40, 60], [0, 30, 60, 90], visit)
    met = ranges.mask(60, 90)
    for dtype in ("float64", "float32"):
        given = {"x": x.astype(dtype), "y": y.astype(dtype), "ranges": ranges}
        away = distances(given["x"], given["y"])
        for reduction, worst in (("argmin", np.inf), ("argmax", -np.inf)):
            found = tilefold.reduce(f"{reduction}_j |x_i - y_j|²", **given)
            best = getattr(np, reduction)(np.where(met, away, worst), axis=1)
            np.testing.assert_array_equal(found, np.where(met.any(1), best, -1))
        same = tilefold.reduce("argmin_j (x_i·y_j + inf)", **given)
        first = np.where(met.any(1), met.argmax(1), -1)
        np.testing.assert_array_equal(same, first)


def staircase(tiles: int) -> tilefold.Ranges:
    """Tile t meets all columns up to its own end."""
    ends = np.arange(tiles + 1) * 4
    return tilefold.Ranges.from_intervals(
        np.stack([ends[:-1], ends[1:]], 1),
        np.arange(tiles + 1),
        np.stack([0 * ends[1:], ends[1:]], 1),
    )


def test_many_tiles_are_read_from_the_other_axis() -> None:
    """Tiles that touch are one, so that lists stay short."""
    tiles = 40_000
    ranges = staircase(tiles)
    assert ranges.pairs == 16 * tiles * (tiles + 1) // 2
    assert ranges.T.pairs == ranges.pairs
    assert ranges.T.T.pairs == ranges.pairs
    few = staircase(40)
    np.testing.assert_array_equal(few.T.mask(160, 160), few.mask(160, 160).T)


def test_pieces_beyond_any_memory_are_refused() -> None:
    """Every tile meets nearly all columns, from a place of its own on."""
    tiles = 16_000
    rows = np.stack([np.arange(tiles) * 3, np.arange(tiles) * 3 + 2], 1)
    columns = np.stack([np.arange(tiles), np.arange(tiles) + tiles + 1], 1)
    ranges = tilefold.Ranges.from_intervals(rows, np.arange(tiles + 1), columns)
    assert ranges.pairs == 2 * tiles * (tiles + 1)
    with pytest.raises(tilefold.ArgumentError, match="more than 33554432") as e:
        ranges.T  # noqa: B018
    assert e.value.code == "RangesPieces"


def test_huge_batches_and_lists_are_refused() -> None:
    """Views of stride 0 may have any shape."""
    true = np.ones((1, 1, 1), bool)
    row = np.array([[0, 4]])

    def repeated(array: np.ndarray, count: int) -> np.ndarray:
        strides = (0, *array.strides[1:])
        shape = (count, *array.shape[1:])
        return np.lib.stride_tricks.as_strided(array, shape, strides)

    for count in (2**28, 2**40, 2**57):
        for make in (
            lambda n: tilefold.Ranges([0, 4], [0, 4], repeated(true, n)),
            lambda n: tilefold.Ranges.from_intervals(
                repeated(row, n), [0, 1], row
            ),
            lambda n: tilefold.Ranges.from_intervals(
                row, [0, 1], repeated(row, n)
            ),
        ):
            with pytest.raises(tilefold.ArgumentError) as caught:
                make(count)
            assert caught.value.code == "RangesCount"


def test_many_clusters_are_near_few() -> None:
    """All pairs of tiles would take 3.6 GB."""
    rng = np.random.default_rng(8)
    x = np.round(rng.random((60_000, 2)) * 400, 3)
    clusters = tilefold.Clusters(x, size=1.0)
    assert len(clusters.radii) > 40_000
    ranges = clusters.near(clusters, distance=0.5)
    count = tilefold.reduce(
        "count_j (|x_i - x_j| <= 0.5)", x=clusters.points, ranges=ranges
    )
    near = tilefold.radius_neighbors(clusters.points, radius=0.5)
    np.testing.assert_array_equal(count, np.diff(near.indptr))


def test_clusters() -> None:
    """Tiles of a grid, and all pairs that are near."""
    points_i, points_j, weights = points(900, 1100)
    a = tilefold.Clusters(points_i, size=0.7)
    b = tilefold.Clusters(points_j, size=0.7)
    for clusters, given in ((a, points_i), (b, points_j)):
        assert (clusters.unsort(clusters.points) == given).all()
        assert (clusters.sort(given) == clusters.points).all()
        tile = np.repeat(
            np.arange(len(clusters.radii)), np.diff(clusters.offsets)
        )
        to_centre = np.linalg.norm(
            clusters.points - clusters.centroids[tile], axis=1
        )
        assert (to_centre <= clusters.radii[tile] + 1e-12).all()
        assert clusters.radii.max() <= 0.7 * np.sqrt(3)
    ranges = a.near(b, distance=0.8)
    near = distances(a.points, b.points) <= 0.64
    mask = ranges.mask(900, 1100)
    assert (mask | ~near).all()
    assert mask.mean() < 0.7
    text = "sum_j where(|x_i - y_j| <= r, exp(-|x_i - y_j|²), 0) b_j"
    found = a.unsort(
        tilefold.reduce(
            text,
            x=a.points,
            y=b.points,
            b=b.sort(weights),
            r=0.8,
            ranges=ranges,
        )
    )
    everything = tilefold.reduce(text, x=points_i, y=points_j, b=weights, r=0.8)
    np.testing.assert_allclose(found, everything, rtol=1e-10, atol=1e-13)


@pytest.mark.parametrize("tiles", [0, 1, 7])
def test_clusters_by_labels(tiles: int) -> None:
    """Labels say the tiles; there may be no points."""
    x = rng.normal(size=(20 * tiles, 2))
    clusters = tilefold.Clusters(x, labels=np.arange(len(x)) % max(tiles, 1))
    assert len(clusters.offsets) == tiles + 1
    ranges = clusters.ranges(clusters, np.eye(tiles, dtype=bool))
    assert ranges.pairs == tiles * 400


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({}, "size and labels"),
        ({"size": 1.0, "labels": np.zeros(5)}, "size and labels"),
        ({"size": -1.0}, "size -1"),
        ({"labels": np.zeros(4)}, r"\(4,\)"),
    ],
)
def test_malformed_clusters(given, text: str) -> None:
    """What cannot be sorted into tiles is refused."""
    with pytest.raises(tilefold.ArgumentError, match=text):
        tilefold.Clusters(np.zeros((5, 2)), **given)


def test_ragged_batches() -> None:
    """Batches of different sizes, one after the other."""
    n, m = [3, 0, 40, 1], [10, 5, 600, 0]
    x, y, b = points(sum(n), sum(m))
    i, j = np.cumsum([0, *n]), np.cumsum([0, *m])
    ranges = tilefold.Ranges(i, j, np.eye(len(n), dtype=bool))
    f = tilefold.compile("sum_j exp(-|x_i - y_j|²) b_j")
    found = f(x=x, y=y, b=b, ranges=ranges)
    gradient = f.grad("b")(x=x, y=y, b=b, grad=1.0, ranges=ranges)
    for k in range(len(n)):
        rows, columns = slice(i[k], i[k + 1]), slice(j[k], j[k + 1])
        part = f(x=x[rows], y=y[columns], b=b[columns])
        np.testing.assert_allclose(found[rows], part, rtol=1e-13)
        one = f.grad("b")(x=x[rows], y=y[columns], b=b[columns], grad=1.0)
        np.testing.assert_allclose(gradient[columns], one, rtol=1e-13)


def test_gradients_where_only_the_ranges_have_batches() -> None:
    """The arrays of one batch meet other pairs in each."""
    n, m = 12, 15
    x, y, b = points(n, m)
    tiles_i, tiles_j = [0, 3, 7, 12], [0, 5, 6, 15]
    visit = rng.random((4, 3, 3)) < 0.6
    ranges = tilefold.Ranges(tiles_i, tiles_j, visit)
    k = np.exp(-distances(x, y)) * ranges.mask(n, m)
    f = tilefold.compile("sum_j exp(-|x_i - y_j|²) b_j")
    for g in (rng.normal(size=(4, n)), rng.normal(size=n), 1.5):
        value, gradient = f.grad("b", value=True)(
            x=x, y=y, b=b, grad=g, ranges=ranges
        )
        np.testing.assert_allclose(value, k @ b, rtol=1e-11)
        every = np.broadcast_to(g, (4, n))
        expected = np.einsum("bij,bi->j", k, every)
        np.testing.assert_allclose(gradient, expected, rtol=1e-11)
    waves = tilefold.reduce(
        "sum_j exp(im*|x_i - y_j|)", x=x, y=y, ranges=ranges
    )
    phases = np.exp(1j * np.sqrt(distances(x, y))) * ranges.mask(n, m)
    np.testing.assert_allclose(waves, phases.sum(-1), rtol=1e-11)


def test_the_widest_vectors_are_refused_in_passes() -> None:
    """Their width was what a cut between two passes may never have."""
    every = tilefold.Ranges([0, 4], [0, 5], np.ones((1, 1), bool))
    widest = np.broadcast_to(1.0, (4, 2**31 - 1))
    with pytest.raises(tilefold.Error):
        tilefold.reduce(
            "max_i min_j a_j * max_i b_i",
            a=np.ones((5, 1), "f4"),
            b=widest,
            ranges=every,
        )
