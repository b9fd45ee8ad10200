# tests/python/test_jax_devices.py - JAX's programs on several devices, in
# other processes, and from its cache.
from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import tilefold

jax = pytest.importorskip("jax")
pytest.importorskip("flatbuffers")
pytest.importorskip("jax.export")

import tilefold.jax  # noqa: E402
from jax_cases import (  # noqa: E402
    NUMBER,
    assert_same,
    reduced,
    sine,
    uniform,
    wide,  # noqa: F401
)

FOLDER = Path(__file__).parent


def run(*arguments, **variables):
    """What a process of Python's own prints."""
    environment = os.environ | {"JAX_PLATFORMS": "cpu"} | variables
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=FOLDER,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_four_devices():
    assert run("jax_on_devices.py").strip() == "as on one device"


LOADED = """
import sys
import jax, jax.export, numpy as np
import tilefold.jax
jax.config.update("jax_enable_x64", True)
tilefold.jax.register()
with open(sys.argv[1], "rb") as file:
    program = jax.export.deserialize(bytearray(file.read()))
given = np.load(sys.argv[2])
found = program.call(*(given[name] for name in "xybl"))
for k, each in enumerate(jax.tree.leaves(found)):
    np.save(f"{sys.argv[3]}{k}.npy", each)
"""


@pytest.mark.parametrize("transform", ["call", "gradients", "batch"])
def test_a_program_is_written_and_read(transform, tmp_path):
    batch = "batch, " if transform == "batch" else ""
    n, m = jax.export.symbolic_shape("n, m")
    leading = jax.export.symbolic_shape(batch, scope=n.scope) if batch else ()
    functions = {
        "call": reduced,
        "gradients": jax.grad(sine(reduced), (0, 1, 3)),
        "batch": jax.vmap(jax.grad(sine(reduced), 1), (None, None, 0, None)),
    }
    f = jax.jit(functions[transform])
    shapes = [(n, 3), (m, 3), (*leading, m), ()]
    program = jax.export.export(
        f,
        disabled_checks=[
            jax.export.DisabledSafetyCheck.custom_call(tilefold.jax.TARGET)
        ],
    )(*(jax.ShapeDtypeStruct(shape, np.float64) for shape in shapes))
    path = tmp_path / "program"
    path.write_bytes(program.serialize())
    b = uniform(2, 9) if batch else uniform(9)
    given = {"x": uniform(7, 3), "y": uniform(9, 3), "b": b, "l": np.array(0.6)}
    np.savez(tmp_path / "given.npz", **given)
    run("-c", LOADED, path, tmp_path / "given.npz", tmp_path / "found")
    expected = jax.tree.leaves(f(*given.values()))
    for k, each in enumerate(expected):
        np.testing.assert_array_equal(np.load(tmp_path / f"found{k}.npy"), each)


def of_kernels(use):
    text = "exp(-|x_i - x_j|²)"
    return lambda x, b: use(tilefold.kernel(text, x=x), b)


EXPORTED = {
    "an array on both axes": lambda x, b: tilefold.reduce(
        "sum_j exp(-|x_i - x_j|²) b_j/N", x=x, b=b
    ),
    "its gradient": jax.grad(
        lambda x, b: tilefold.reduce("sum_ij sin(x_i·x_j) b_j", x=x, b=b)
    ),
    "sizes": lambda x, b: (
        tilefold.kernel("exp(-|x_i - x_j|²)/N + i*D/M", x=x) @ b
    ),
    "product": of_kernels(lambda K, b: K @ b),
    "gradient": jax.grad(of_kernels(lambda K, b: (K @ b).sum())),
    "rows": of_kernels(lambda K, b: K[1:] @ b + K[:-1].sum(1)),
    "dense": of_kernels(lambda K, b: K.dense() @ b),
    "diagonal": of_kernels(lambda K, b: K.diag() * b),
    "system": of_kernels(lambda K, b: K.solve(b, 0.1, rtol=1e-12)),
    "determinant": of_kernels(lambda K, b: K.logdet(0.1) * b),
    "a mapped kernel": jax.vmap(of_kernels(lambda K, b: K @ b), (None, 1)),
}


@pytest.mark.parametrize("name", EXPORTED)
def test_programs_for_any_number_of_points(name):
    f = jax.jit(EXPORTED[name])
    columns = (2,) if name == "a mapped kernel" else ()
    (n,) = jax.export.symbolic_shape("n", constraints=["n <= 2000", "n >= 2"])
    targets = [tilefold.jax.TARGET, tilefold.jax.SOLVE_TARGET]
    program = jax.export.export(
        f,
        disabled_checks=[
            jax.export.DisabledSafetyCheck.custom_call(target)
            for target in targets
        ],
    )(*(jax.ShapeDtypeStruct(s, np.float64) for s in [(n, 2), (n, *columns)]))
    for points in (2, 7, 12):
        x, b = uniform(points, 2), uniform(points, *columns)
        np.testing.assert_allclose(program.call(x, b), f(x, b), 1e-9, 1e-12)


def test_a_batch_of_kernels_of_any_size_is_refused():
    (n,) = jax.export.symbolic_shape("n")
    with pytest.raises(tilefold.ArgumentError, match=r"jax\.vmap"):
        jax.eval_shape(
            lambda x: tilefold.kernel("x_i·x_j", x=x).sum(1),
            jax.ShapeDtypeStruct((n, 5, 2), np.float64),
        )


CACHED = """
import sys, jax, numpy as np
import tilefold.jax
from jax._src import monitoring
hits = []
monitoring.register_event_listener(lambda event, **_: hits.append(event))
jax.config.update("jax_compilation_cache_dir", sys.argv[1])
jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)
x = np.ones((6, 3), np.float32)
f = jax.jit(lambda x: tilefold.jax.reduce("sum_j 2exp(-|x_i - x_j|)", x=x))
assert np.allclose(f(x), 12)
print(hits.count("/jax/compilation_cache/cache_hits"))
"""


def test_programs_are_found_in_jax_s_cache(tmp_path):
    assert int(run("-c", CACHED, tmp_path)) == 0
    assert int(run("-c", CACHED, tmp_path)) >= 1


def test_symbols_that_differ_are_refused():
    n, m, k = jax.export.symbolic_shape("n, m, k")
    with pytest.raises(tilefold.ShapeError, match="rows on j"):
        jax.eval_shape(
            lambda x, y, b: tilefold.jax.reduce(
                NUMBER.text, x=x, y=y, b=b, l=1.0
            ),
            jax.ShapeDtypeStruct((n, 3), np.float32),
            jax.ShapeDtypeStruct((m, 3), np.float32),
            jax.ShapeDtypeStruct((k,), np.float32),
        )


def test_import_of_tilefold_imports_no_jax():
    found = run("-c", "import sys, tilefold; print('jax' in sys.modules)")
    assert found.strip() == "False"


def test_programs_of_one_call_are_the_same():
    x = uniform(5, 3)
    texts = {
        jax.jit(lambda x: reduced(x, x, x[:, 0], 0.5)).lower(x).as_text()
        for _ in range(2)
    }
    assert len(texts) == 1
    assert_same(reduced(x, x, x[:, 0], 0.5), reduced(x, x, x[:, 0], 0.5), 0)
