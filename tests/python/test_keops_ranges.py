# tests/python/test_keops_ranges.py - pairs that ranges list several times.
"""Tiles and intervals that overlap, for every reduction, beside NumPy's.

The reference has a matrix of how often each pair is listed, and repeats the
pairs of each row as often.
"""

import numpy as np
import pytest
import torch

import tilefold.compat.pykeops.numpy as kn
import tilefold.compat.pykeops.torch as kt
from tilefold.compat.pykeops.ranges import as_ranges

M, N, K = 7, 9, 4
RANDOM = np.random.default_rng(31)
X, Y = RANDOM.normal(size=(M, 3)), RANDOM.normal(size=(N, 3))
W = RANDOM.normal(size=(N, 2))
ALIASES = ["x = Vi(3)", "y = Vj(3)", "w = Vj(2)"]
# Of i: points 3 and 4 lie in three tiles, 6 in none; a tile meets nothing.
ROWS = np.array([[0, 5], [3, 6], [3, 5], [1, 2], [0, 0]])
COLUMNS = [[[0, 4], [2, 7]], [[3, 6], [3, 6], [8, 9]], [[0, 2]], [], [[0, 9]]]


def listed(rows, columns, shape):
    """How often each pair is listed."""
    count = np.zeros(shape, int)
    for (p, q), intervals in zip(rows, columns, strict=True):
        for r, s in intervals:
            count[p:q, r:s] += 1
    return count


def halves(rows, columns):
    """The three lists of one half."""
    slices = np.cumsum([len(each) for each in columns])
    flat = [interval for each in columns for interval in each]
    return np.array(rows), slices, np.array(flat).reshape(-1, 2)


COUNT = listed(ROWS, COLUMNS, (M, N))
RANGES = halves(ROWS, COLUMNS) * 2


def repeated(values, count):
    """The values (…, N) of one row, each as often as it is listed."""
    return np.repeat(values, count, axis=0)


DISTANCES = ((X[:, None] - Y[None]) ** 2).sum(-1)
APART = X[:, None] - Y[None]


def expected(score, apart, places):
    """Each reduction of one row, by NumPy."""
    weights = np.exp(score)
    if not len(score):
        none = np.full(3, np.nan)
        return {
            "Sum": np.zeros(3), "LogSumExp": [-np.inf], "SoftMax": none[:2],
            "Min": [np.inf], "Max": [-np.inf], "Weighted": [-np.inf] * 2,
            "ArgMin": [0], "KMin": [np.inf] * K, "ArgKMin": [0] * K,
        }  # fmt: skip
    order = np.argsort(score, kind="stable")[:K]
    missing = K - len(order)
    weighted = weights @ W[places]
    with np.errstate(invalid="ignore"):
        logarithm = np.log(weighted)
    return {
        "Sum": apart.sum(0),
        "LogSumExp": [np.log(weights.sum())],
        "Weighted": logarithm,
        "SoftMax": weighted / weights.sum(),
        "Min": [score.min()],
        "Max": [score.max()],
        "ArgMin": [places[score.argmin()]],
        "KMin": [*score[order], *[np.inf] * missing],
        "ArgKMin": [*places[order], *[0] * missing],
    }


def references(count):
    """Of each reduction, the rows of its result."""
    rows = [
        expected(
            repeated(DISTANCES[i], count[i]),
            repeated(APART[i], count[i]),
            repeated(np.arange(N), count[i]),
        )
        for i in range(M)
    ]
    return {name: np.array([row[name] for row in rows]) for name in rows[0]}


CALLS = {
    "Sum": ("x - y", "Sum", None, None),
    "LogSumExp": ("SqDist(x,y)", "LogSumExp", None, None),
    "Weighted": ("SqDist(x,y)", "LogSumExp", "w", None),
    "SoftMax": ("SqDist(x,y)", "SumSoftMaxWeight", "w", None),
    "Min": ("SqDist(x,y)", "Min", None, None),
    "Max": ("SqDist(x,y)", "Max", None, None),
    "ArgMin": ("SqDist(x,y)", "ArgMin", None, None),
    "KMin": ("SqDist(x,y)", "KMin", None, K),
    "ArgKMin": ("SqDist(x,y)", "ArgKMin", None, K),
}


def test_the_lists_are_read():
    assert COUNT.max() == 4
    assert not COUNT[6].any()
    layers = as_ranges(RANGES, 1, (M, N))
    masks = [layer.mask(M, N) for layer in layers]
    for depth, mask in enumerate(masks):
        np.testing.assert_array_equal(mask, depth < COUNT)
    np.testing.assert_array_equal(sum(masks), COUNT)


@pytest.mark.parametrize("module", [kn, kt])
@pytest.mark.parametrize("axis", [0, 1])
def test_pairs_count_as_often_as_they_are_listed(module, axis):
    right = references(COUNT)
    aliases = ALIASES
    if axis == 0:
        aliases = ["x = Vj(3)", "y = Vi(3)", "w = Vi(2)"]
    data = [X, Y, W]
    if module is kt:
        data = [torch.from_numpy(each) for each in data]
    for name, (formula, reduction, formula2, count) in CALLS.items():
        call = module.Genred(
            formula,
            aliases,
            reduction,
            axis=axis,
            formula2=formula2,
            opt_arg=count,
        )
        found = call(*data[: call.nargs], ranges=RANGES)
        np.testing.assert_allclose(
            found, right[name], rtol=1e-12, atol=1e-12, err_msg=name
        )


@pytest.mark.parametrize("module", [kn, kt])
def test_pairs_of_lazy_tensors_count_as_often(module):
    right = references(COUNT)
    convert = torch.from_numpy if module is kt else np.asarray
    x_i = module.LazyTensor(convert(X)[:, None])
    y_j = module.LazyTensor(convert(Y)[None])
    squares = ((x_i - y_j) ** 2).sum(-1)
    squares.ranges = RANGES
    values, indices = squares.Kmin_argKmin(K, dim=1)
    np.testing.assert_allclose(values, right["KMin"])
    np.testing.assert_array_equal(indices, right["ArgKMin"])
    least, place = squares.min_argmin(dim=1)
    np.testing.assert_allclose(least, right["Min"])
    np.testing.assert_array_equal(place, right["ArgMin"])
    # Of each component, its own smallest values.
    found = (x_i - y_j).Kmin(2, dim=1, ranges=RANGES)
    for i in range(M):
        apart = np.sort(repeated(APART[i], COUNT[i]), axis=0)[:2]
        apart = np.pad(
            apart, ((0, 2 - len(apart)), (0, 0)), constant_values=np.inf
        )
        np.testing.assert_allclose(found[i], apart)
    assert found.shape == (M, 2, 3)
    w_j = module.LazyTensor(convert(W)[None])
    found = squares.sumsoftmaxweight(w_j, dim=1)
    np.testing.assert_allclose(found, right["SoftMax"])
    found = module.LazyTensor.sum(squares * (1 + 2j), dim=1)
    np.testing.assert_allclose(
        found[:, 0], (1 + 2j) * (DISTANCES * COUNT).sum(1)
    )
    batch = module.LazyTensor(convert(np.stack([X, X / 2]))[:, :, None])
    found = ((batch - y_j) ** 2).sum(-1).logsumexp(dim=2, ranges=RANGES)
    np.testing.assert_allclose(found[0], right["LogSumExp"])


def dense(name, x, y, w):
    """The reduction by PyTorch, rows with pairs alone."""
    some = torch.from_numpy(COUNT.any(1))
    count = torch.from_numpy(COUNT)[some]
    apart = x[some][:, None] - y[None]
    score = (apart**2).sum(-1)
    if name == "Sum":
        return (count[..., None] * apart.sin()).sum(1)
    if name == "KMin":
        rows = zip(score, count, strict=True)
        return torch.stack(
            [row.repeat_interleave(n).sort().values[:2] for row, n in rows]
        )
    weighted = score + count.log()
    if name == "LogSumExp":
        return weighted.logsumexp(1, keepdim=True)
    mean = weighted.softmax(1) @ w
    if name == "SoftMax":
        return mean
    return weighted.logsumexp(1, keepdim=True) + mean.log()


@pytest.mark.parametrize(
    "name", ["Sum", "LogSumExp", "Weighted", "SoftMax", "KMin"]
)
def test_gradients_count_pairs_as_often(name):
    formula, reduction, formula2, count = CALLS[name]
    call = kt.Genred(
        "Sin(x - y)" if name == "Sum" else formula,
        ALIASES,
        reduction,
        axis=1,
        formula2=formula2,
        opt_arg=count and 2,
    )
    data = [torch.from_numpy(each) for each in (X, Y, W)]
    data[2] = data[2].abs()
    data = [each.clone().requires_grad_() for each in data]
    found = call(*data[: call.nargs], ranges=RANGES)
    right = dense(name, *data)
    found = found[torch.from_numpy(COUNT.any(1))]
    torch.testing.assert_close(found, right)
    inputs = data if formula2 else data[:2]

    def derivatives(value):
        [first, *others] = torch.autograd.grad(
            value.sin().sum(), inputs, create_graph=True
        )
        return [first, *others, *torch.autograd.grad((first**2).sum(), inputs)]

    torch.testing.assert_close(derivatives(found), derivatives(right))


def test_lists_that_say_nothing_are_refused():
    call = kn.Genred("SqDist(x,y)", ALIASES[:2], axis=1)
    rows, slices, columns = halves([[0, 2], [1, 3]], [[[0, 2]], [[1, 4]]])
    for given, message in (
        ((rows[:, ::-1], slices, columns), "tiles end before"),
        ((rows, slices, columns[:, ::-1]), "intervals end before"),
        ((rows, slices[::-1], columns), "slices end before"),
        ((rows, slices, columns + 8), "beyond the 9 points"),
    ):
        with pytest.raises(ValueError, match=message):
            call(X, Y, ranges=given * 2)


def test_many_tiles_that_overlap():
    random = np.random.default_rng(5)
    m, n = 300, 400
    rows = np.sort(random.integers(0, m + 1, (200, 2)))
    columns = [
        np.sort(random.integers(0, n + 1, (random.integers(0, 4), 2))).tolist()
        for _ in rows
    ]
    count = listed(rows, columns, (m, n))
    x, y = random.normal(size=(m, 2)), random.normal(size=(n, 2))
    call = kn.Genred("SqDist(x,y)", ["x=Vi(2)", "y=Vj(2)"], axis=1)
    found = call(x, y, ranges=halves(rows, columns) * 2)
    squares = ((x[:, None] - y[None]) ** 2).sum(-1)
    np.testing.assert_allclose(found[:, 0], (squares * count).sum(1))
