# tests/python/jax_on_devices.py - calls on four devices of the host; run by
# test_jax_devices.py in a process of its own.
from __future__ import annotations

import os

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P

import tilefold.jax
from jax_cases import assert_same, reduced, sine, uniform

jax.config.update("jax_enable_x64", True)
X, Y, B, L = uniform(8, 3), uniform(12, 3), uniform(12), 0.7
PLAIN = (X, Y, B, L)
ALL = (0, 1, 2, 3)
JOINED = jax.__version_info__ >= (0, 10)
USE_MESH = getattr(jax, "set_mesh", None) or jax.sharding.use_mesh
MESH = jax.make_mesh((4,), ("p",), axis_types=(AxisType.Auto,))
gradient = jax.grad(sine(reduced), ALL)


def placed(mesh, value, *axes):
    return jax.device_put(value, NamedSharding(mesh, P(*axes)))


def total(x, y):
    return tilefold.jax.reduce("sum_ij exp(-|x_i - y_j|²)", x=x, y=y)


def on_both(x):
    return tilefold.jax.reduce("sum_j x_j/(1 + |x_i - x_j|²)", x=x)


def first_rows(x):
    return tilefold.jax.reduce("sum_j i*|x_i - y_j|", x=x, y=Y)


def product(values):
    return tilefold.jax.reduce("prod_i (1 + |x_i|²)", x=values)


def compiled(f, values, gathers, sums, specs):
    """Runs it, and counts what devices tell each other.

    The XLA of JAX 0.10 joins the sums of an operation into one, that of 0.7
    does not.
    """
    program = jax.jit(f).lower(*values).compile()
    text = program.as_text()
    counts = [
        text.count(f" {name}(") + text.count(f" {name}-start(")
        for name in ("all-gather", "all-reduce")
    ]
    assert counts[0] == gathers, counts
    apart = [sums] if JOINED else range(sums, len(specs) * sums + 1)
    assert counts[1] in apart, counts
    found = jax.jit(f)(*values)
    assert [each.sharding.spec for each in jax.tree.leaves(found)] == specs
    assert_same(found, f(*map(np.asarray, values)))


def divided_by_xla():
    x = placed(MESH, X, "p")
    y, b = placed(MESH, Y), placed(MESH, B)
    rows = [P("p"), P(), P(), P()]
    compiled(reduced, (x, y, b, L), 0, 0, [P("p")])
    compiled(gradient, (x, y, b, L), 0, 1, rows)
    along = lambda *v: jax.jvp(gradient, v, v)[1]  # noqa: E731
    compiled(along, (x, y, b, L), 0, 1, rows)
    compiled(total, (x, y), 0, 1, [P()])
    compiled(jax.grad(total, (0, 1)), (x, y), 0, 1, [P("p"), P()])
    batch = placed(MESH, uniform(4, 12), "p")
    mapped = jax.vmap(reduced, (None, None, 0, None))
    compiled(mapped, (X, y, batch, L), 0, 0, [P("p")])
    each = jax.vmap(gradient, (None, None, 0, None))
    compiled(each, (X, y, batch, L), 0, 0, [P("p")] * 4)
    # These are needed whole.
    compiled(on_both, (x,), 1, 0, [P()])
    compiled(first_rows, (x,), 1, 0, [P()])
    compiled(product, (x,), 1, 0, [P()])
    columns = (X, placed(MESH, Y, "p"), placed(MESH, B, "p"), L)
    compiled(reduced, columns, 2, 0, [P()])


def divided_by_shard_map():
    rows = jax.shard_map(
        reduced,
        mesh=MESH,
        in_specs=(P("p"), P(), P(), P()),
        out_specs=P("p"),
        check_vma=True,
    )
    columns = jax.shard_map(
        lambda *values: jax.lax.psum(reduced(*values), "p"),
        mesh=MESH,
        in_specs=(P(), P("p"), P("p"), P()),
        out_specs=P(),
        check_vma=True,
    )
    for divided in (rows, columns):
        assert_same(jax.jit(divided)(*PLAIN), reduced(*PLAIN))
        assert_same(jax.grad(sine(divided), ALL)(*PLAIN), gradient(*PLAIN))
        assert_same(
            jax.hessian(sine(divided), 3)(*PLAIN),
            jax.hessian(sine(reduced), 3)(*PLAIN),
        )
    # Rows are computed as on one device, to the bit.
    assert np.array_equal(jax.jit(rows)(*PLAIN), jax.jit(reduced)(*PLAIN))


def divided_by_types():
    mesh = jax.make_mesh((4,), ("p",), axis_types=(AxisType.Explicit,))
    with USE_MESH(mesh):
        x = placed(mesh, X, "p")
        values = (x, placed(mesh, Y), placed(mesh, B), L)
        found = jax.jit(reduced)(*values)
        assert str(jax.typeof(found)) == "float64[8@p]"
        assert_same(found, reduced(*PLAIN))
        gradients = jax.jit(gradient)(*values)
        types = [str(jax.typeof(each)) for each in gradients[:2]]
        assert types == ["float64[8@p,3]", "float64[12,3]"]
        assert_same(gradients, gradient(*PLAIN))


def on_each_device():
    pieces = X.reshape(4, 2, 3)
    found = jax.pmap(lambda x: reduced(x, Y, B, L))(pieces)
    assert_same(jnp.reshape(found, -1), reduced(*PLAIN))


if __name__ == "__main__":
    divided_by_xla()
    divided_by_shard_map()
    divided_by_types()
    on_each_device()
    print("as on one device")
