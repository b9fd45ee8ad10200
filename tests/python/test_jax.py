# tests/python/test_jax.py - formulas under JAX's transformations, held against
# jax.numpy.
from __future__ import annotations

import threading

import numpy as np
import pytest

import tilefold

jax = pytest.importorskip("jax")

import jax.numpy as jnp  # noqa: E402
from jax.scipy.sparse import linalg  # noqa: E402
from jax.test_util import check_grads  # noqa: E402

import tilefold.jax  # noqa: E402
from jax_cases import (  # noqa: E402
    ALL,
    CASES,
    NUMBER,
    PLAIN,
    B,
    L,
    X,
    Y,
    assert_same,
    reduced,
    sine,
    uniform,
    wide,  # noqa: F401
)

SCALES = np.array([0.5, 0.7, 0.9])


def solved(f, l):
    """A solution by gradients, whose operator has a parameter."""

    def apply(v):
        return f(X, X, v, l) + v

    return linalg.cg(apply, X[:, 0], tol=1e-15, maxiter=60)[0]


def scanned(f, x):
    def step(x, _):
        value = f(x, Y, B, L)
        return x + 0.1 * value[:, None], value

    return jax.lax.scan(step, x, None, 3)[1].sum()


def looped(f):
    def body(carry):
        return carry[0] + 1, carry[1] + f(carry[1], Y, B, L)[:, None]

    return jax.lax.while_loop(lambda carry: carry[0] < 3, body, (0, X))[1]


def chosen(f, x):
    return jax.lax.cond(
        x.sum() > 0, lambda x: f(x, Y, B, L).sum(), lambda x: x.sum(), x
    )


def kept(f, policy):
    def body(x):
        return jnp.sin(f(jnp.sin(x), Y, B, L)).sum()

    return jax.grad(jax.checkpoint(body, policy=policy))(X)


TRANSFORMATIONS = {
    "call": lambda f: f(*PLAIN),
    "jit": lambda f: jax.jit(f)(*PLAIN),
    "grad": lambda f: jax.grad(sine(f), ALL)(*PLAIN),
    "jit of grad": lambda f: jax.jit(jax.grad(sine(f), ALL))(*PLAIN),
    "grad of jit": lambda f: jax.grad(sine(jax.jit(f)), ALL)(*PLAIN),
    "value_and_grad": lambda f: jax.value_and_grad(sine(f), ALL)(*PLAIN),
    "jvp": lambda f: jax.jvp(f, PLAIN, (X * 0.1, Y * 2, B, L)),
    "jvp of some": lambda f: jax.jvp(lambda l: f(X, Y, B, l), (L,), (1.0,)),
    "vjp": lambda f: jax.vjp(f, *PLAIN)[1](X[:, 0]),
    "linearize": lambda f: jax.linearize(f, *PLAIN)[1](X, Y * 2, B, L),
    "linear_transpose": lambda f: jax.linear_transpose(
        lambda b: f(X, Y, b, L), B
    )(X[:, 0]),
    "jacfwd": lambda f: jax.jacfwd(f, ALL)(*PLAIN),
    "jacrev": lambda f: jax.jacrev(f, ALL)(*PLAIN),
    "hessian": lambda f: jax.hessian(f, ALL)(*PLAIN),
    "reverse over reverse": lambda f: jax.jacrev(
        jax.jacrev(sine(f), (0, 3)), (1, 3)
    )(*PLAIN),
    "forward over forward": lambda f: jax.jacfwd(jax.jacfwd(f, 3), (0, 3))(
        *PLAIN
    ),
    "third order": lambda f: jax.jacfwd(
        jax.jacrev(jax.jacfwd(sine(f), 3), 3), (3, 2)
    )(*PLAIN),
    "third order by others": lambda f: jax.jacrev(
        jax.jacfwd(jax.jacrev(sine(f), 3), 2), (3, 1)
    )(*PLAIN),
    "hessian times a vector": lambda f: jax.jvp(
        jax.grad(sine(f), (0, 3)), PLAIN, (X, Y, B, L)
    ),
    "vmap of b": lambda f: jax.vmap(f, (None, None, 0, None))(
        X, Y, uniform(6, 5), L
    ),
    "vmap of l": lambda f: jax.vmap(f, (None, None, None, 0))(X, Y, B, SCALES),
    "vmap of all": lambda f: jax.vmap(f)(
        uniform(2, 4, 3), uniform(2, 5, 3), uniform(2, 5), SCALES[:2]
    ),
    "vmap on other axes": lambda f: jax.vmap(f, (2, 1, -1, None), out_axes=-1)(
        uniform(4, 3, 2), uniform(5, 2, 3), uniform(5, 2), L
    ),
    "vmap of vmap": lambda f: jax.vmap(
        jax.vmap(f, (0, None, None, None)), (None, 0, None, 0)
    )(uniform(2, 4, 3), uniform(3, 5, 3), B, SCALES),
    "vmap of grad": lambda f: jax.vmap(
        jax.grad(sine(f), ALL), (None, None, 0, None)
    )(X, Y, uniform(6, 5), L),
    "grad of vmap": lambda f: jax.grad(
        sine(jax.vmap(f, (None, None, 0, None))), ALL
    )(X, Y, uniform(6, 5), L),
    "vmap of hessian": lambda f: jax.vmap(
        jax.hessian(sine(f), (0, 3)), (None, None, 0, None)
    )(X, Y, uniform(2, 5), L),
    "hessian of vmap": lambda f: jax.hessian(
        sine(jax.vmap(f, (None, None, 0, None))), (2, 3)
    )(X, Y, uniform(2, 5), L),
    "vmap of jvp": lambda f: jax.vmap(
        lambda t: jax.jvp(f, PLAIN, (X, Y, t, L))[1]
    )(uniform(3, 5)),
    "vmap of linear_transpose": lambda f: jax.vmap(
        jax.linear_transpose(lambda b: f(X, Y, b, L), B)
    )(uniform(2, 4)),
    "grad of scan": lambda f: jax.grad(lambda x: scanned(f, x))(X),
    "hessian of scan": lambda f: jax.hessian(
        lambda l: scanned(lambda x, y, b, _: f(x, y, b, l), X)
    )(L),
    "while_loop": looped,
    "grad of cond": lambda f: jax.grad(lambda x: chosen(f, x))(X),
    "checkpoint": lambda f: kept(f, None),
    "checkpoint, all saved": lambda f: kept(
        f, jax.checkpoint_policies.everything_saveable
    ),
    "checkpoint, dots saved": lambda f: kept(
        f, jax.checkpoint_policies.dots_saveable
    ),
    "cg": lambda f: solved(f, L),
    "cg by a parameter": lambda f: jax.jacrev(lambda l: solved(f, l))(L),
    "cg by a parameter, forward": lambda f: jax.jacfwd(lambda l: solved(f, l))(
        L
    ),
    "one array twice": lambda f: jax.hessian(lambda x: sine(f)(x, x, B[:4], L))(
        X
    ),
    "pmap": lambda f: jax.pmap(f, in_axes=(0, None, None, None))(
        X[None], Y, B, L
    ),
}


@pytest.mark.sample(0.08)
@pytest.mark.parametrize("name", TRANSFORMATIONS)
def test_transformations(name):
    transformation = TRANSFORMATIONS[name]
    assert_same(transformation(reduced), transformation(NUMBER.dense))


@pytest.mark.sample(0.1)
@pytest.mark.parametrize("name", CASES)
def test_formulas_and_their_hessians(name):
    case = CASES[name]
    values = list(case.arguments.values())

    def mine(*values):
        named = dict(zip(case.arguments, values, strict=True))
        return tilefold.jax.reduce(case.text, named)

    every = tuple(range(len(values)))
    assert_same(mine(*values), case.dense(*values))
    # The second order by two arguments, since each pair is a kernel.
    for transformation, by in ((jax.grad, every), (jax.hessian, every[-2:])):
        found = transformation(sine(mine), by)(*values)
        expected = transformation(sine(case.dense), by)(*values)
        assert_same(found, expected, 1e-11)


def test_derivatives_of_three_orders_by_differences():
    check_grads(reduced, PLAIN, order=3, modes=("fwd", "rev"))


def test_shapes_and_programs_need_no_run():
    found = jax.eval_shape(reduced, *PLAIN)
    assert found.shape == (4,)
    assert found.dtype == np.float64
    program = jax.make_jaxpr(reduced)(*PLAIN)
    assert [str(e.primitive) for e in program.eqns].count("tilefold") == 1
    assert not program.effects


def test_common_calls_are_merged_and_unused_ones_dropped():
    def twice(x):
        reduced(x, Y, B, 0.3)
        return reduced(x, Y, B, L) + reduced(x, Y, B, L)

    text = jax.jit(twice).lower(X).compile().as_text()
    assert text.count('custom_call_target="tilefold.reduce.v1"') == 1


# ---- calls of tilefold itself ------------------------------------------------


def test_calls_of_tilefold_take_tracers_and_arrays():
    f = tilefold.compile(NUMBER.text)
    x, b = jnp.asarray(X), jnp.asarray(B)
    expected = NUMBER.dense(X, Y, B, L)
    ways = {
        "a formula": lambda x, b: f(x=x, y=Y, b=b, l=L),
        "a mapping": lambda x, b: f({"x": x, "y": Y}, b=b, l=L),
        "reduce": lambda x, b: tilefold.reduce(NUMBER.text, x=x, y=Y, b=b, l=L),
        "roles": lambda x, b: tilefold.reduce(
            "sum_j exp(-|u - v|²/2l²) w",
            u=tilefold.Vi(x),
            v=tilefold.Vj(Y),
            w=tilefold.Vj(b),
            l=tilefold.Pm(L),
        ),
        "a kernel": lambda x, b: (
            tilefold.kernel("exp(-|x_i - y_j|²/2l²)", x=x, y=Y, l=L) @ b
        ),
        "lazy": lambda x, b: jnp.asarray(
            np.exp(
                -(
                    (tilefold.lazy(x, axis="i") - tilefold.lazy(Y, axis="j"))
                    ** 2
                ).sum(-1)
                / (2 * L**2)
            )
            @ b
        ),
    }
    for way in ways.values():
        for found in (way(x, b), jax.jit(way)(x, b)):
            assert isinstance(found, jax.Array)
            assert_same(found, expected)
        gradient = jax.grad(lambda x, way=way: way(x, b).sum())(x)
        dense = jax.grad(lambda x: NUMBER.dense(x, Y, B, L).sum())(X)
        assert_same(gradient, dense)


def test_gradients_of_formulas_inside():
    gradient = tilefold.compile(NUMBER.text).grad("b")

    def mine(x):
        return gradient(x=x, y=Y, b=B, l=L, grad=jnp.ones(4))

    def dense(x):
        return jax.grad(lambda b: NUMBER.dense(x, Y, b, L).sum())(B)

    assert_same(jax.jacrev(mine)(X), jax.jacrev(dense)(X))


def test_batches_guessed_and_said():
    x, y, b = uniform(2, 4, 3), uniform(2, 5, 3), uniform(2, 5, 1)
    f = tilefold.compile(NUMBER.text)
    expected = f(x=x, y=y, b=b, l=L)
    found = f(x=jnp.asarray(x), y=y, b=b, l=L)
    assert_same(found, jnp.asarray(expected))
    assert_same(
        tilefold.jax.reduce(f, x=x, y=y, b=b[..., 0], l=L, batch=1),
        found[..., 0],
    )
    total = f(x=jnp.asarray(x), y=y, b=b, l=L, sum_batch=0)
    assert_same(total, found.sum(0), 1e-12)
    gradient = jax.grad(lambda l: f(x=jnp.asarray(x), y=y, b=b, l=l).sum())(L)
    assert gradient.shape == ()


def test_sessions_and_progress_stay_outside():
    seen = []
    f = tilefold.compile(NUMBER.text, session=tilefold.Session())
    found = f(x=jnp.asarray(X), y=Y, b=B, l=L)
    assert isinstance(found, jax.Array)
    assert_same(found, reduced(*PLAIN))
    options = tilefold.Options(progress=lambda *p: seen.append(p))
    with pytest.raises(tilefold.ArgumentError, match="where JAX traces 'x'"):
        jax.jit(
            lambda x: tilefold.reduce(
                NUMBER.text, x=x, y=Y, b=B, l=L, options=options
            )
        )(X)


def test_options_are_part_of_a_call():
    options = tilefold.Options(tolerance=1e-6, segment=2)
    found = tilefold.jax.reduce(
        NUMBER.text, x=X, y=Y, b=B, l=L, options=options
    )
    assert_same(found, reduced(*PLAIN), 1e-6)
    text = str(
        jax.jit(
            lambda x: tilefold.jax.reduce(
                NUMBER.text, x=x, y=Y, b=B, l=L, options=options
            )
        )
        .lower(X)
        .as_text()
    )
    assert "segment=2" in text
    assert "tolerance=1e-06" in text


# ---- bad input ---------------------------------------------------------------


TRACES = {
    "jit": lambda call, given: jax.jit(call)(given),
    "eval_shape": lambda call, given: jax.eval_shape(call, given),
    "vmap": lambda call, given: jax.vmap(lambda l: call({**given, "l": l}))(
        SCALES
    ),
}
WRONG = {
    "components": (tilefold.ShapeError, {"y": uniform(5, 2)}),
    "lengths": (tilefold.ShapeError, {"b": uniform(6)}),
    "a name more": (tilefold.ArgumentError, {"q": B}),
    "a type": (tilefold.DTypeError, {"b": jnp.zeros(5, jnp.int4)}),
}


@pytest.mark.parametrize("name", WRONG)
@pytest.mark.parametrize("trace", TRACES)
def test_refusals_are_made_when_a_call_is_traced(trace, name):
    error, change = WRONG[name]
    given = {"x": X, "y": Y, "b": B, "l": L, **change}
    with pytest.raises(error):
        TRACES[trace](lambda a: tilefold.jax.reduce(NUMBER.text, a), given)


def test_refusals_point_into_the_formula():
    with pytest.raises(tilefold.ShapeError) as caught:
        jax.jit(reduced)(X, uniform(5, 2), B, L)
    assert "^" in str(caught.value)
    with pytest.raises(tilefold.ArgumentError, match="needs 'l'"):
        jax.jit(lambda x: tilefold.jax.reduce(NUMBER.text, x=x, y=Y, b=B))(X)
    with pytest.raises(tilefold.FormulaError):
        tilefold.jax.reduce("sum_j exp(", x=X)


def test_an_index_outside_its_table():
    table = jnp.asarray(uniform(5))

    def call(k):
        return tilefold.jax.reduce("sum_j A[n_i] y_j[0]", A=table, n=k, y=Y)

    inside = jax.jit(call)(jnp.array([0, 4]))
    np.testing.assert_allclose(
        inside, table[jnp.array([0, 4])] * Y[:, 0].sum(), rtol=1e-12
    )
    with pytest.raises(
        (ValueError, jax.errors.JaxRuntimeError), match="INVALID_ARGUMENT"
    ) as caught:
        jax.jit(call)(jnp.array([0, 5])).block_until_ready()
    assert "'n'" in str(caught.value)


def test_two_libraries_and_arrays_without_one():
    torch = pytest.importorskip("torch")
    with pytest.raises(tilefold.ArgumentError, match="'y' belongs to torch"):
        tilefold.reduce(
            NUMBER.text, x=jnp.asarray(X), y=torch.tensor(Y), b=B, l=L
        )
    with pytest.raises(tilefold.DTypeError):
        jax.jit(lambda x: tilefold.reduce("sum_j x_j", x=[x[0], x[1]]))(B)
    with pytest.raises(tilefold.ArgumentError, match="read-only"):
        tilefold.reduce("sum_j x_j", x=B, out=jnp.zeros(()))


# ---- memory, threads, kernels ------------------------------------------------


def bounds(n, m, width):
    return 64 * (n + m) * width


MEMORY = {
    "gravity": ("sum_j m_j*(x_j - x_i)*rsqrt(|x_i - x_j|² + e)^3", "xm"),
    "gravity of numbers": ("sum_ij m_j*m_i*rsqrt(|x_i - x_j|² + e)", "xm"),
    "gaussian": ("sum_j exp(-|x_i - y_j|²) b_j", "xyb"),
    "coulomb": ("sum_j b_j pinv(|x_i - y_j|)", "xyb"),
    "attention": ("softmax_j(x_i·y_j, v_j)", "xyv"),
}


@pytest.mark.parametrize("name", MEMORY)
def test_memory_is_that_of_the_arguments(name):
    text, letters = MEMORY[name]
    n, m = 3000, 4000
    values = {
        "x": jnp.ones((n, 3)),
        "y": jnp.ones((m, 3)),
        "b": jnp.ones(m),
        "v": jnp.ones((m, 4)),
        "m": jnp.ones(n),
    }
    given = {letter: values[letter] for letter in letters}
    if "e" in [n for n, _ in tilefold.compile(text).names]:
        given["e"] = 0.1

    def call(given):
        return jnp.sin(tilefold.jax.reduce(text, given)).sum()

    for f in (
        call,
        jax.grad(call),
        lambda g: jax.jvp(jax.grad(call), (g,), (g,)),
    ):
        used = jax.jit(f).lower(given).compile().memory_analysis()
        assert used.temp_size_in_bytes <= bounds(n, m, 3 + 4)


def test_callers_on_threads_get_the_same_bits():
    x, y, b = uniform(500, 3), uniform(700, 3), uniform(700)
    call = jax.jit(reduced)
    expected = np.asarray(call(x, y, b, L))
    found = {}

    def work(k):
        found[k] = [np.asarray(call(x, y, b, L)) for _ in range(5)]

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8
    for results in found.values():
        for each in results:
            np.testing.assert_array_equal(each, expected)


def test_shapes_share_a_kernel():
    """Each new shape costs XLA a program, and the library nothing."""
    f = tilefold.compile("sum_j exp(-|x_i - 1.5 y_j|²) b_j")
    call = jax.jit(lambda x, b: tilefold.jax.reduce(f, x=x, y=Y, b=b))
    call(uniform(50, 3), uniform(5, 2))
    before = tilefold.stats()
    for n in range(40, 50):
        for width in (2, 3, 4):
            found = call(uniform(n, 3), uniform(5, width))
            assert found.shape == (n, width)
    after = tilefold.stats()
    made = after.compiles + after.disk_hits
    assert made == before.compiles + before.disk_hits


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (0, "dimension 0, but there are 0"),
        ([-1], "dimension -1, but there are 0"),
        ("all", "pass the number of a batch dimension"),
    ],
)
def test_only_batches_are_summed(given, message):
    x = jnp.ones((4, 3))
    with pytest.raises(tilefold.ArgumentError, match=message):
        tilefold.reduce("sum_j x_i·x_j", x=x, sum_batch=given)
    several = jnp.stack([x, 2 * x])
    summed = tilefold.reduce("sum_j x_i·x_j", x=several, sum_batch=[0])
    np.testing.assert_allclose(summed, np.full(4, 60.0))
    with pytest.raises(tilefold.ArgumentError, match="there are 1"):
        tilefold.reduce("sum_j x_i·x_j", x=several, sum_batch=(0, 0))
    with pytest.raises(tilefold.ArgumentError, match="true or false"):
        tilefold.reduce("any_j (x_i·x_j > 1)", x=several, sum_batch=0)


MISTAKES = {
    "a backend": (
        lambda: tilefold.jax.reduce("sum_j b_j", b=jnp.ones(3), backend="t"),
        tilefold.ArgumentError,
        'pass "tiled"',
    ),
    "a text": (
        lambda: tilefold.jax.reduce("sum_j l*b_j", b=jnp.ones(3), l="a"),
        tilefold.DTypeError,
        "'l' holds a str",
    ),
    "None": (
        lambda: tilefold.reduce("sum_j l*b_j", b=jnp.ones(3), l=None),
        tilefold.DTypeError,
        "'l' holds None",
    ),
    "a wide system": (
        lambda: tilefold.jax.solve(
            tilefold.kernel("x_i·y_j", x=jnp.ones(3), y=jnp.ones(4)),
            jnp.ones(4),
        ),
        tilefold.ShapeError,
        "as many rows as columns",
    ),
    "a traced row": (
        lambda: jax.jit(lambda i: tilefold.kernel("x_i·x_j", x=jnp.ones(3))[i])(
            1
        ),
        tilefold.ArgumentError,
        "index by numbers or lists",
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_are_told_in_tilefold_s_errors(mistake):
    call, family, message = MISTAKES[mistake]
    with pytest.raises(family, match=message):
        call()
