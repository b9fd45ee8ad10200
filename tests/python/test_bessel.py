# tests/python/test_bessel.py - Bessel functions of real orders, and the orders
# that are refused.
"""Against mpmath and SciPy, on the CPU and through the kernels for a GPU."""

from __future__ import annotations

import functools

import mpmath
import numpy as np
import pytest
from scipy import special

import fake_gpu
import tilefold
from instruction_sets import PORTABLE

#: Of what takes long, another third each day.
pytestmark = pytest.mark.sample(0.34)

FUNCTIONS = {
    "besselj": (special.jv, special.jvp),
    "bessely": (special.yv, special.yvp),
    "besseli": (special.iv, special.ivp),
    "besselk": (special.kv, special.kvp),
}
ORDERS = np.array(
    [0.5, 1.5, 2.5, 0.25, 0.001, 0.999, 1 / 3, 3.7, 12.25, 60.5, 141.375,
     -0.5, -1.5, -0.3, -2.75, -20.5, 0, 1, 2, 7, -1, -4]
)  # fmt: skip
POINTS = np.array(
    [1e-6, 1e-3, 0.1, 0.7, 1.0, 1.4999, 1.5001, 2.0, 2.0001, 3.9, 8.0, 11.7,
     25.0, 59.0, 61.0, 300.0, 1e4, 3e7]
)  # fmt: skip


@functools.cache
def exact(name: str, order: float, x: float) -> float:
    """By mpmath: SciPy's lose digits where orders or numbers are large."""
    with mpmath.workdps(40):
        if name == "besseli" and x < 1e-100:  # mpmath does not converge
            return float(
                (mpmath.mpf(x) / 2) ** order * mpmath.rgamma(order + 1)
            )
        if name == "besselk" and min(x, abs(order)) > 100:  # nor here
            return float(exact_k(abs(order), x))
        return float(getattr(mpmath, name)(order, x))


def exact_k(order, x):
    """∫ exp(-x cosh t) cosh(nt) dt by the trapezium rule, which converges
    geometrically."""
    step, total, t = mpmath.mpf(1) / 64, mpmath.exp(-x) / 2, mpmath.mpf(0)
    while True:
        t += step
        term = mpmath.exp(-x * mpmath.cosh(t)) * mpmath.cosh(order * t)
        total += term
        if t > mpmath.asinh(order / x) and term < total * mpmath.mpf(10) ** -20:
            return total * step


def reference(name, order, x, dtype):
    """In double precision; what no number of the dtype holds is infinite."""
    wanted = np.array([[exact(name, n, a) for a in x] for n in order])
    size = np.abs(wanted)
    wanted = np.where(
        size > np.finfo(dtype).max, np.copysign(np.inf, wanted), wanted
    )
    return without_subnormals(wanted, dtype)


def without_subnormals(values, dtype):
    return np.where(np.abs(values) < np.finfo(dtype).tiny, 0, values)


def error_of(name, found, wanted, order, x):
    """Relative; J and Y near their zeros to the size of both."""
    size = np.abs(wanted)
    if name in ("besselj", "bessely"):
        both = np.hypot(special.jv(order, x), special.yv(order, x))
        size = np.where(x > np.abs(order), both, size)
    if name == "besseli":  # two terms, one of which changes its sign
        other = np.abs(special.kv(order, x))
        size = np.where(order < 0, size + other, size)
    same = (found == wanted) | (np.isnan(found) & np.isnan(wanted))
    with np.errstate(all="ignore"):
        return np.where(same, 0, np.abs(found - wanted) / size)


@pytest.mark.parametrize("isa", PORTABLE)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_real_orders(name, dtype, isa):
    orders, x = ORDERS.astype(dtype), POINTS.astype(dtype)
    options = tilefold.Options(isa=isa)
    kernel = tilefold.kernel(
        f"{name}(n_i, x_j)", n=orders, x=x, options=options
    )
    found = kernel.dense()
    wanted = reference(name, orders.tolist(), x.tolist(), dtype)
    error = error_of(name, found, wanted, orders[:, None], x)
    assert np.nanmax(error) < (3e-7 if dtype == np.float32 else 1e-12)
    assert not np.isnan(error).any()


@pytest.mark.parametrize("isa", PORTABLE)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("order", [-1, 0, 1])
def test_low_orders_of_j(order, dtype, isa):
    """They are a part of the graph, and written in place up to 2^20."""
    random = np.random.default_rng(3)
    edges = np.array([0, 4, 32**0.5, 48**0.5, 8, 2**20, 1e7, 1e30], dtype)
    x = np.concatenate(
        [
            random.uniform(0, 8, 300),
            random.uniform(8, 40, 200),
            random.uniform(0, 2e6, 100),
            random.uniform(0, 1e-3, 50),
            np.nextafter(edges, dtype(0)),
            np.nextafter(edges, dtype(np.inf)),
            edges,
            [np.inf],
        ]
    ).astype(dtype)
    x = np.concatenate([x, -x])
    with mpmath.workdps(40):
        exact = [
            float(mpmath.besselj(order, float(v))) if np.isfinite(v) else 0.0
            for v in x
        ]
    found = tilefold.compile(f"besselj({order}, x_i)")(
        x=x, options=tilefold.Options(isa=isa)
    )
    wanted = np.array(exact)
    least = np.float64(5e-16) if dtype == np.float64 else np.spacing(1e-3)
    size = np.abs(wanted)
    limit = least + (0 if dtype == np.float64 else 0.51) * np.spacing(
        size.astype(dtype)
    )
    assert np.all(np.abs(found - wanted) <= limit)
    small = np.abs(x) < 1e-3  # J_1 keeps its digits there
    close = 2 * np.finfo(dtype).eps * size[small]
    assert np.all(np.abs(found - wanted)[small] <= close + 1e-38)


def test_low_orders_are_part_of_the_graph():
    x = np.ones(3)
    for order in (-1, 0, 1, 2):
        shown = tilefold.compile(f"besselj({order}, x_i)").explain(x=x)
        assert ("literal 0 = 2" in shown) == (order == 2)
        assert ("literal 0 =" in shown) == (order == 2)
    written = tilefold.reduce("polygamma(0, x_i)", x=x)
    np.testing.assert_array_equal(written, tilefold.reduce("digamma(x_i)", x=x))


@pytest.mark.usefixtures("driver")
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_kernels_for_a_gpu_agree(name, dtype, gpu_session):
    text = f"{name}(n_i, x_j)"
    orders, x = ORDERS.astype(dtype), POINTS.astype(dtype)
    found = fake_gpu.numpy(
        tilefold.kernel(
            text,
            n=fake_gpu.array(orders),
            x=fake_gpu.array(x),
            session=gpu_session,
        ).dense()
    )
    wanted = tilefold.kernel(text, n=orders, x=x).dense()
    found = without_subnormals(found, dtype)
    error = error_of(name, found, wanted, orders[:, None], x)
    assert np.nanmax(error) < (3e-7 if dtype == np.float32 else 1e-12)
    assert not np.isnan(error).any()


FAR_ORDERS = [0, 0.5, 1, 2, 30, 300.25, 999.5, 1000, 1e-12, 1e-5, -1e-9, -0.5,
              -0.999, -3, -400.75]  # fmt: skip
FAR_POINTS = [5e-324, 2e-310, 3e-308, 1e-300, 1e-200, 1e-20, 690, 720, 1200,
              1499, 1501, 5e4, 1e6, 1e15]  # fmt: skip


@pytest.mark.usefixtures("driver")
@pytest.mark.parametrize("where", [*PORTABLE, "gpu"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_far_orders_and_numbers(name, where, gpu_session):
    """Where powers, exponentials and half of a number leave the doubles."""
    if where == "gpu":
        found = values(name, FAR_ORDERS, FAR_POINTS, gpu_session)
    else:
        options = tilefold.Options(isa=where)
        found = values(name, FAR_ORDERS, FAR_POINTS, None, options)
    wanted = reference(name, FAR_ORDERS, FAR_POINTS, np.float64)
    found = without_subnormals(found, np.float64)
    orders, x = np.array(FAR_ORDERS)[:, None], np.array(FAR_POINTS)
    error = error_of(name, found, wanted, orders, x)
    assert np.nanmax(error) < 1e-12
    assert not np.isnan(error).any()


def values(name, orders, x, session=None, options=None):
    """On the CPU, or with a session, on the fake GPU."""
    orders, x = np.array(orders, float), np.array(x, float)
    if session is None:
        return tilefold.kernel(
            f"{name}(n_i, x_j)", n=orders, x=x, options=options
        ).dense()
    kernel = tilefold.kernel(
        f"{name}(n_i, x_j)",
        n=fake_gpu.array(orders),
        x=fake_gpu.array(x),
        session=session,
    )
    return fake_gpu.numpy(kernel.dense())


INF, NAN = np.inf, np.nan
EDGES = [
    # name, order, what it is at -1.5, 0 and inf
    ("besselj", 0.5, [NAN, 0, 0]),
    ("besselj", 0, [special.jv(0, 1.5), 1, 0]),
    ("besselj", -0.5, [NAN, INF, 0]),
    ("besselj", -1.5, [NAN, -INF, 0]),
    ("besselj", 3, [-special.jv(3, 1.5), 0, 0]),
    ("besselj", -3, [special.jv(3, 1.5), 0, 0]),
    ("bessely", 0.5, [NAN, -INF, 0]),
    ("bessely", 2, [NAN, -INF, 0]),
    ("bessely", -1, [NAN, INF, 0]),
    ("bessely", -0.5, [NAN, 0, 0]),
    ("bessely", -0.75, [NAN, INF, 0]),
    ("bessely", -0.25, [NAN, -INF, 0]),
    ("besseli", 0.5, [NAN, 0, INF]),
    ("besseli", 2, [special.iv(2, 1.5), 0, INF]),
    ("besseli", -0.5, [NAN, INF, INF]),
    ("besseli", -1.5, [NAN, -INF, INF]),
    ("besselk", 0.5, [NAN, INF, 0]),
    ("besselk", -2.5, [NAN, INF, 0]),
    ("besselk", 0, [NAN, INF, 0]),
    ("besselj", NAN, [NAN] * 3),
    ("besselk", 1001.5, [NAN] * 3),
    ("polygamma", 1.5, [NAN] * 3),
    ("polygamma", -1, [NAN] * 3),
    ("polygamma", NAN, [NAN] * 3),
]


@pytest.mark.parametrize("on_gpu", [False, True])
@pytest.mark.usefixtures("driver")
def test_edges(on_gpu, gpu_session):
    session = gpu_session if on_gpu else None
    for name, order, wanted in EDGES:
        found = values(name, [order], [-1.5, 0, INF], session)[0]
        np.testing.assert_allclose(
            found, wanted, rtol=1e-13, atol=0, err_msg=f"{name}({order}, …)"
        )


@pytest.mark.parametrize("order", [0.5, 2.5, -1.25])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_an_order_of_the_text_of_the_call_and_of_a_point(name, order):
    x = np.linspace(0.1, 9, 40)
    wanted = FUNCTIONS[name][0](order, x)
    arrays = {"x": x, "n": order, "m": np.full(40, order)}
    for text in f"{name}({order}, x_i)", f"{name}(n, x_i)", f"{name}(m_i, x_i)":
        names = [key for key, _ in tilefold.compile(text).names]
        found = tilefold.reduce(text, {key: arrays[key] for key in names})
        np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("order", [0.5, 2.5, 1 / 3, 3])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_derivatives(name, order):
    x, one = np.linspace(0.2, 9, 40), np.ones(40)
    f = tilefold.compile(f"{name}(n, x_i)").grad("x", cotangent="g")
    slope = FUNCTIONS[name][1]
    np.testing.assert_allclose(
        f(x=x, n=order, g=one), slope(order, x, 1), rtol=1e-11, atol=1e-12
    )
    np.testing.assert_allclose(
        f.grad("x", cotangent="h")(x=x, n=order, g=one, h=one),
        slope(order, x, 2),
        rtol=1e-11,
        atol=1e-11,
    )


def test_a_matern_kernel_of_any_smoothness():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(30, 2)), rng.normal(size=(40, 2))
    r = np.sqrt(((x[:, None] - y) ** 2).sum(-1))
    text = (
        "2^(1 - ν)*exp(-lgamma(ν))*z^ν*besselk(ν, z) with z = √(2ν)*|x_i-y_j|"
    )
    for nu, wanted in {
        0.5: np.exp(-r),
        1.5: (1 + np.sqrt(3) * r) * np.exp(-np.sqrt(3) * r),
        2.5: (1 + np.sqrt(5) * r + 5 * r * r / 3) * np.exp(-np.sqrt(5) * r),
    }.items():
        found = tilefold.kernel(text, x=x, y=y, ν=nu).dense()
        np.testing.assert_allclose(found, wanted, rtol=1e-12)


def test_the_order_is_not_differentiated():
    x = np.linspace(1, 2, 5)
    for name in [*FUNCTIONS, "polygamma"]:
        f = tilefold.compile(f"sum_i {name}(n, x_i)")
        with pytest.raises(tilefold.FormulaError) as caught:
            f.grad("n")(x=x, n=2.0)
        assert caught.value.code == "NoOrderDerivative"
        assert f"'{name}' has no derivative by its order" in str(caught.value)
        with pytest.raises(tilefold.FormulaError, match="by its order"):
            f.jvp("n")(x=x, n=2.0, tangent=1.0)
        f.grad("x")(x=x, n=2.0)
    # An order that does not move has none, either.
    f = tilefold.compile("sum_i besselk(round(n), x_i)")
    assert f.grad("n")(x=x, n=2.0) == 0


def test_the_order_of_a_tensor_is_not_differentiated():
    torch = pytest.importorskip("torch")
    x = torch.linspace(1, 2, 5, dtype=torch.float64, requires_grad=True)
    n = torch.tensor(1.5, dtype=torch.float64)
    tilefold.reduce("sum_i besselk(n, x_i)", x=x, n=n).backward()
    wanted = special.kvp(1.5, x.detach().numpy(), 1)
    np.testing.assert_allclose(x.grad, wanted, rtol=1e-12)
    with pytest.raises(tilefold.FormulaError, match="without requires_grad"):
        tilefold.reduce(
            "sum_i besselk(n, x_i)", x=x, n=n.clone().requires_grad_()
        ).backward()


@pytest.mark.parametrize(
    "order", ["1.5", "-1", "p with p = 0.5", "-(1)", "0.25"]
)
def test_an_order_of_polygamma_that_is_not_whole_is_refused(order):
    order, *more = order.split(" with ")
    tail = f" with {more[0]}" if more else ""
    with pytest.raises(tilefold.FormulaError) as caught:
        tilefold.reduce(f"polygamma({order}, x_i){tail}", x=np.ones(3))
    assert caught.value.code == "PolygammaOrder"


def test_an_order_of_polygamma_that_comes_with_the_call():
    x = np.array([0.5, 1.0, 3.5])
    for order, dtype in (1, np.float64), (2, np.float32):
        found = tilefold.reduce("polygamma(n, x_i)", x=x.astype(dtype), n=order)
        np.testing.assert_allclose(
            found, special.polygamma(order, x), rtol=1e-6
        )
    found = tilefold.reduce("polygamma(n, x_i)", x=x, n=1.5)
    assert np.isnan(found).all()
    orders = np.array([0, 1, 0.5])
    found = tilefold.reduce("polygamma(n_i, x_i)", x=x, n=orders)
    np.testing.assert_allclose(
        found[:2], [special.digamma(0.5), special.polygamma(1, 1.0)]
    )
    assert np.isnan(found[2])


ANY_NUMBERS = np.array(
    [0, 5e-324, 1e-310, 1e-300, 0.3, 1, 1.5, 2, 7, 64, 65, 170, 171, 300.5, 700,
     999.5, 1000, 1001, 3e4, 7e4, 1e8, 1e16, 9.3e18, 1e20, 1e300, np.inf,
     np.nan, -0.0, -1e-300, -0.3, -1, -2.5, -64.5, -700.25, -1000, -9.3e18,
     -1e300, -np.inf]
)  # fmt: skip


@pytest.mark.usefixtures("driver")
@pytest.mark.parametrize("where", [*PORTABLE, "gpu"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", [*FUNCTIONS, "polygamma"])
def test_arrays_of_any_numbers(name, dtype, where, gpu_session):
    """Orders are any numbers, and so are the points: nothing is thrown through
    a kernel, which would end the process."""
    with np.errstate(over="ignore"):
        numbers = ANY_NUMBERS.astype(dtype)
    arrays = {"n": numbers, "x": numbers}
    if where == "gpu":
        arrays = {key: fake_gpu.array(value) for key, value in arrays.items()}
        settings = {"session": gpu_session}
    else:
        settings = {"options": tilefold.Options(isa=where)}
    found = tilefold.kernel(f"{name}(n_i, x_j)", arrays, **settings).dense()
    found = fake_gpu.numpy(found) if where == "gpu" else found
    n, x = numbers[:, None].astype(float), numbers.astype(float)
    outside = ~(np.abs(n) <= 1000) | np.isnan(x)
    if name == "polygamma":
        outside |= (
            (n < 0) | (n != np.floor(n)) | ((x <= 0) & (x == np.floor(x)))
        )
    elif name in ("besselj", "besseli"):
        outside |= (x < 0) & (n != np.floor(n))
    else:
        outside |= x < 0
    np.testing.assert_array_equal(np.isnan(found), outside)


POLYGAMMA_ORDERS = [0, 1, 2, 3, 5, 10, 20, 63, 64, 65, 99, 171, 400, 1000]
ROOT = 1.4616321449683622
POLYGAMMA_POINTS = [1e-300, 1e-9, 0.1, 0.5, 1, ROOT, 3, 16.5, 150,
                    1030, 1e6, 1e200, np.inf, -1e-9, -0.5, -1.25, -2.9, -20.5,
                    -63.1, -1e6 - 0.3]  # fmt: skip


@functools.cache
def exact_polygamma(n, x):
    if np.isinf(x):
        return np.inf if n == 0 else 0.0
    sign = (-1) ** (n + 1)
    with mpmath.workdps(60 + 2 * n):
        if n == 0:
            return float(mpmath.digamma(x))
        at, found = mpmath.mpf(x), mpmath.mpf(0)
        if x < 0:  # all terms of both sides less those of 1 - x
            size = at - mpmath.nint(at)
            nearest = range(-300, 301) if n > 9 else None
            if nearest is None:
                cot = mpmath.diff(lambda t: mpmath.cot(mpmath.pi * t), size, n)
                found = mpmath.pi * cot * (-1) ** n
            else:
                found = mpmath.fsum((size + k) ** (-n - 1) for k in nearest)
                found *= mpmath.factorial(n)
            at, found = 1 - at, found * sign
            return float(found - hurwitz(n, at))
        return float(sign * hurwitz(n, at))


def hurwitz(n, x):
    """n! Σ 1/(x + k)^(n + 1); mpmath's zeta loses digits of large x."""
    terms = [(x + k) ** (-n - 1) for k in range(max(0, 60 + n - int(x)))]
    at = x + len(terms)
    terms += [at ** (-n) / n, at ** (-n - 1) / 2]
    for k in range(1, 40):
        factor = mpmath.bernoulli(2 * k) / mpmath.factorial(2 * k)
        rising = mpmath.rf(n + 1, 2 * k - 1)
        terms.append(factor * rising * at ** (-n - 2 * k))
    return mpmath.fsum(terms) * mpmath.factorial(n)


@pytest.mark.usefixtures("driver")
@pytest.mark.parametrize("where", [*PORTABLE, "gpu"])
def test_polygamma_of_any_order(where, gpu_session):
    if where == "gpu":
        found = values(
            "polygamma", POLYGAMMA_ORDERS, POLYGAMMA_POINTS, gpu_session
        )
    else:
        options = tilefold.Options(isa=where)
        found = values(
            "polygamma", POLYGAMMA_ORDERS, POLYGAMMA_POINTS, None, options
        )
    wanted = np.array(
        [[exact_polygamma(n, x) for x in POLYGAMMA_POINTS]
         for n in POLYGAMMA_ORDERS]
    )  # fmt: skip
    found = without_subnormals(found, np.float64)
    wanted = without_subnormals(wanted, np.float64)
    same = found == wanted
    with np.errstate(all="ignore"):
        error = np.where(same, 0, np.abs(found - wanted))
        size = np.abs(wanted)
    size[0, POLYGAMMA_POINTS.index(ROOT)] = 1  # a difference of such numbers
    with np.errstate(all="ignore"):
        assert np.all(error <= 2e-12 * size)


@pytest.mark.usefixtures("driver")
@pytest.mark.parametrize("on_gpu", [False, True])
def test_polygamma_of_large_numbers(on_gpu, gpu_session):
    """(n - 1)!/x^n, whose parts are far beyond the largest double."""
    orders, x = [1, 2, 3, 170, 500, 1000], 10.0 ** np.arange(20, 301, 10)
    found = values("polygamma", orders, x, gpu_session if on_gpu else None)
    wanted = [
        [
            float(
                (-1) ** (n + 1) * mpmath.factorial(n - 1) / mpmath.mpf(at) ** n
            )
            for at in x
        ]
        for n in orders
    ]
    np.testing.assert_allclose(
        without_subnormals(found, np.float64),
        without_subnormals(np.array(wanted), np.float64),
        rtol=1e-12,
    )
