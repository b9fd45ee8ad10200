# tests/python/test_gpu_host.py - arrays of the host that GPUs compute on, in
# pieces. The fake driver does what is queued as late as it may, so that a copy
# that nobody waits for is missed.
from __future__ import annotations

import numpy as np
import pytest

import fake_gpu
import tilefold
from fake_gpu import agree, numbers, settings

GAUSSIAN = "sum_j exp(-|x_i - y_j|²/2l²) b_j"
X, Y, B = numbers(1300, 3), numbers(2100, 3, seed=1), numbers(2100, seed=2)
LONG = numbers(20_000, 3, seed=4)  # 240 kB, more than some budgets below
KIB = 1 << 10

#: Of what takes long, another third each day.
pytestmark = [pytest.mark.usefixtures("driver"), pytest.mark.sample(0.34)]


def session_of(devices="cuda:0", kib=128, **options):
    return tilefold.Session(
        settings(devices=devices, device_bytes=kib * KIB, **options)
    )


def on_gpus(formula, arrays, run=None, **where):
    """The results there, after a look at those of the CPU."""
    run = run or (lambda f, given: f(given))
    there = run(tilefold.compile(formula, session=session_of(**where)), arrays)
    here = run(tilefold.compile(formula), arrays)
    if not isinstance(here, tuple):
        there, here = (there,), (here,)
    there = [np.asarray(each) for each in there]
    agree(there, here)
    return there


CASES = {
    "rows in pieces": (GAUSSIAN, {"x": X, "y": Y, "b": B, "l": 0.5}, 128),
    "columns in pieces": (
        "sum_j exp(-|x_i - y_j|²) i",
        {"x": X[:150], "y": LONG},
        200,
    ),
    "sizes": (
        "sum_j exp(-|x_i - y_j|²) (i + N)/M",
        {"x": X[:150], "y": LONG},
        200,
    ),
    "condition as a factor": (
        "sum_j [i ≠ j]/|x_i - x_j|",
        {"x": X[:150]},
        200,
    ),
    "numbers of columns": ("argmin_j|x_i - y_j|", {"x": X, "y": LONG}, 400),
    "numbers of pairs": ("argmin_ij|x_i - y_j|", {"x": X, "y": LONG}, 400),
    "both axes": ("sum_ij exp(-|x_i - y_j|²)", {"x": X, "y": LONG}, 400),
    "masked": (
        "sum_j where(j <= i, x_i·y_j, 0)",
        {"x": X[:150], "y": LONG},
        200,
    ),
    "nearest": ("kmin_j(|x_i - y_j|, 3)", {"x": X[:150], "y": LONG}, 400),
    "softmax": (
        "softmax_j(x_i·y_j, y_j)",
        {"x": X[:150], "y": LONG},
        1000,
    ),
    "one array": ("sum_j exp(-|x_i - x_j|²)", {"x": X}, 128),
    "a map": ("sin(x_i)*1.1 + i", {"x": numbers(30_000)}, 64),
    "one number": ("sum_i |x_i|", {"x": LONG}, 64),
    "doubles": (
        "sum_j |x_i - y_j|",
        {"x": X.astype("f8"), "y": Y.astype("f8")},
        128,
    ),
    "bytes": (
        "sum_j (x_i·y_j)²",
        {"x": (X * 30).astype("i1"), "y": (Y * 30).astype("i1")},
        64,
    ),
    "a table": (
        "sum_j A[r_j] x_i·y_j",
        {"A": numbers(5), "r": np.arange(2100) % 5, "x": X, "y": Y},
        200,
    ),
    "nothing": ("sum_j x_i·y_j", {"x": X, "y": Y[:0]}, 64),
    "no rows": ("sum_j x_i·y_j", {"x": X[:0], "y": Y}, 64),
    "no pairs": ("sum_ij x_i·y_j", {"x": X[:0], "y": Y[:0]}, 64),
}


@pytest.mark.parametrize("name", CASES)
def test_results_are_those_of_the_cpu(name, driver):
    formula, arrays, kib = CASES[name]
    driver.devices = 3
    (one,) = on_gpus(formula, arrays, kib=kib)
    (three,) = on_gpus(formula, arrays, kib=kib, devices="cuda")
    assert one.tobytes() == three.tobytes()
    # Sessions took all with them.
    assert (driver.used, driver.pinned) == (0, 0)
    assert driver.launches > 3 or name.startswith("no ")


def test_bits_are_those_of_arrays_that_are_there(gpu_session):
    arrays = {"x": X[:150], "y": Y, "b": B, "l": 0.5}
    given = {
        name: fake_gpu.array(value) if np.ndim(value) else value
        for name, value in arrays.items()
    }
    there = tilefold.compile(GAUSSIAN, session=gpu_session)(given)
    for kib in (64, 1000):
        (here,) = on_gpus(GAUSSIAN, arrays, kib=kib)
        assert here.tobytes() == fake_gpu.numpy(there).tobytes()


def shuffled(rows, columns):
    """Views of other memory orders, with the same numbers."""
    wide = np.zeros((rows.shape[0], 7), rows.dtype)
    wide[:, 1:6:2] = rows
    return [
        np.asfortranarray(rows),
        wide[:, 1:6:2],
        np.ascontiguousarray(rows[::-1])[::-1],
        np.ascontiguousarray(rows[:, ::-1])[:, ::-1],
    ], columns


@pytest.mark.parametrize("layout", range(4))
def test_memory_may_lie_in_any_way(layout):
    rows, y = shuffled(X, Y)
    columns = shuffled(Y, X)[0]
    arrays = {"x": rows[layout], "y": columns[layout], "b": B, "l": 0.5}
    (got,) = on_gpus(GAUSSIAN, arrays)
    (wanted,) = on_gpus(GAUSSIAN, {"x": X, "y": y, "b": B, "l": 0.5})
    assert got.tobytes() == wanted.tobytes()


BATCHES = {
    "few": ((7, 80, 3), (7, 90, 3)),
    "in pieces": ((40, 80, 3), (40, 90, 3)),
    "broadcast": ((40, 80, 3), (90, 3)),
    "one by one": ((3, 900, 3), (3, 2100, 3)),
    "many dimensions": (
        (2, 1, 3, 1, 2, 2, 50, 3),
        (2, 2, 1, 1, 2, 2, 60, 3),
    ),
    "none": ((0, 5, 3), (0, 6, 3)),
}


@pytest.mark.parametrize("name", BATCHES)
def test_batches(name, driver):
    driver.devices = 2
    x, y = (numbers(*shape) for shape in BATCHES[name])
    l = numbers(*x.shape[:-2], 1, 1, seed=3) ** 2 + 1
    arrays = {"x": x, "y": y, "l": l}
    for formula in ("sum_j exp(-|x_i - y_j|²/l)", "sum_ij |x_i - y_j|"):
        used = {k: v for k, v in arrays.items() if k in formula}
        on_gpus(formula, used, devices="cuda:1,cuda:0", kib=64)


def test_gradients_and_complex_numbers():
    arrays = {"x": X[:200], "y": Y[:300], "b": B[:300] ** 2, "l": 0.7}

    def run(formula, given):
        return formula.grad(["x", "b", "l"], value=True)(
            given, grad=numbers(200, seed=9) ** 2
        )

    on_gpus(GAUSSIAN, arrays, run)
    on_gpus("sum_j exp(im*|x_i - y_j|)", {"x": X[:200], "y": Y[:300]})


def test_kernels_are_matrices():
    session = session_of(kib=256)
    arrays = {"x": X[:700], "y": Y[:600]}
    text = "exp(-|x_i - y_j|²/2)"
    there = tilefold.kernel(text, session=session, **arrays)
    here = tilefold.kernel(text, **arrays)
    square = tilefold.kernel("|x_i - x_j| + i", x=X, session=session)
    tiles = np.array([[True, False, True], [False, False, False]])
    ranges = tilefold.Ranges([0, 210, 700], [0, 90, 300, 600], tiles)
    chosen = {"ranges": ranges, **arrays}
    pairs = [
        (there @ B[:600], here @ B[:600]),
        (there.T @ B[:700], here.T @ B[:700]),
        (there[:200].dense(), here[:200].dense()),
        (there[[3, 699, 5]] @ B[:600], here[[3, 699, 5]] @ B[:600]),
        (there.argmin(0), here.argmin(0)),
        (square.diag(), np.arange(1300, dtype="f4")),
        (
            tilefold.reduce("sum_j x_i·y_j", session=session, **chosen),
            tilefold.reduce("sum_j x_i·y_j", **chosen),
        ),
    ]
    agree(*zip(*pairs, strict=True))
    whole = tilefold.kernel(text, session=session_of(kib=6000), **arrays)
    agree([whole.dense()], [here.dense()])


def test_a_system_is_solved():
    kernel = {"x": X[:300]}
    text = "exp(-|x_i - x_j|²)"
    there = tilefold.kernel(text, session=session_of(), **kernel)
    here = tilefold.kernel(text, **kernel)
    agree(
        [there.solve(B[:300], ridge=1.0)],
        [here.solve(B[:300], ridge=1.0)],
        tolerance=1e-4,
    )


def test_neighbors_are_found_by_the_cpu_and_checks_ask_the_gpu(driver):
    session = session_of()
    there = tilefold.kernel("|x_i - x_j|", x=X[:300], session=session)
    here = tilefold.kernel("|x_i - x_j|", x=X[:300])
    found, wanted = (k.radius_neighbors(0.5) for k in (there, here))
    np.testing.assert_array_equal(found.indices, wanted.indices)
    assert driver.launches == 0
    formula = tilefold.compile("sum_j |x_i - x_j|", session=session)
    assert formula.check(x=X[:300]) < 1e-6
    assert driver.launches > 0


def test_results_go_to_out():
    formula = tilefold.compile(GAUSSIAN, session=session_of())
    given = {"x": X, "y": Y, "b": B, "l": 0.5}
    wanted = formula(given)
    memory = np.ones((1300, 2), "f4")
    out = memory[::-1, 1]
    assert formula(given, out=out) is out
    assert out.tobytes() == wanted.tobytes()
    formula(given, out=out, accumulate=True)
    np.testing.assert_array_equal(out, wanted + wanted)
    assert (memory[:, 0] == 1).all()
    total = tilefold.compile("sum_ij |x_i - y_j|", session=session_of())
    both = {"x": X, "y": Y}
    once = total(both)
    out = np.full((), 1.0, "f4")
    total(both, out=out, accumulate=True)
    np.testing.assert_allclose(out, once + 1, rtol=1e-7)


def test_sums_over_batches():
    x, y = numbers(40, 80, 3), numbers(40, 90, 3)
    arrays = {"x": x, "y": y}
    formula = "sum_j |x_i - y_j|"
    there, here = (
        tilefold.reduce(formula, sum_batch=0, session=session, **arrays)
        for session in (session_of(), None)
    )
    agree([there], [here])


def test_a_bound_formula_reads_its_arrays_again():
    y = Y.copy()
    bound = tilefold.compile("sum_j x_i·y_j", session=session_of()).bind(
        x=X, y=y
    )
    first = bound().copy()
    y *= 2
    np.testing.assert_array_equal(bound(), 2 * first)


def test_arrays_on_a_gpu_stay_there(driver):
    driver.devices = 2
    x = fake_gpu.array(X[:50], device=1)
    out = tilefold.reduce("sum_j x_i·x_j", x=x, session=session_of())
    assert isinstance(out, fake_gpu.Array)
    assert out.device == 1
    assert driver.pinned == 0


# ---- what is refused, and what goes wrong ----------------------------------


@pytest.mark.parametrize("columns_stay", [True, False])
def test_a_long_call_is_polled_and_cancelled(columns_stay):
    seen = []

    def progress(done, total):
        seen.append((done, total))
        return len(seen) < 2

    arrays = {"x": numbers(40_000, 3), "y": Y}
    if columns_stay:
        session = session_of(kib=64)
    else:  # and one piece of rows
        arrays = {"x": X[:150], "y": numbers(560_000, 3)}
        session = session_of(kib=600)
    with pytest.raises(tilefold.Cancelled):
        tilefold.reduce(
            "sum_j |x_i - y_j|",
            session=session,
            options=tilefold.Options(progress=progress),
            **arrays,
        )
    assert seen[0][1] == 84_000_000
    assert 0 < seen[0][0] < seen[1][0] < seen[1][1]
    small = {"x": X[:60], "y": Y}
    got = tilefold.reduce("sum_j |x_i - y_j|", session=session, **small)
    agree([got], [tilefold.reduce("sum_j |x_i - y_j|", **small)])


@pytest.mark.parametrize(
    "text",
    ["gpu", "cuda:", "cuda:x", "cuda:-1", "cuda:0,", ",", "cuda:0,cuda:0"],
)
def test_devices_have_names(text):
    with pytest.raises(tilefold.ArgumentError, match='write "cuda:0"'):
        tilefold.Options(devices=text)


def test_names_come_from_the_environment(monkeypatch):
    monkeypatch.setenv("TILEFOLD_DEVICES", "cuda:9")
    session = tilefold.Session(settings())
    with pytest.raises(tilefold.DeviceError, match="cuda:9"):
        tilefold.reduce("sum_j x_i·x_j", x=X, session=session)
    monkeypatch.setenv("TILEFOLD_DEVICE_BYTES", "1")
    with pytest.raises(tilefold.ArgumentError, match="TILEFOLD_DEVICE_BYTES"):
        tilefold.Session(settings())


def test_a_budget_that_is_too_small_is_told():
    arrays = {"x": numbers(5, 9000), "y": numbers(600, 9000)}
    with pytest.raises(tilefold.OutOfMemory, match=r"raise Options\(device_b"):
        tilefold.reduce("sum_j x_i·y_j", session=session_of(), **arrays)
    ranges = tilefold.Ranges([0, 1300], [0, 20_000], np.ones((1, 1), bool))
    arrays = {"x": X, "y": LONG, "ranges": ranges}
    with pytest.raises(tilefold.OutOfMemory, match="ranges, whose arrays go"):
        tilefold.reduce("sum_j x_i·y_j", session=session_of(), **arrays)


@pytest.mark.parametrize("what", ["of the card", "of the host"])
def test_memory_that_is_not_there_is_told(what, driver):
    session = session_of()
    arrays = {"x": X, "y": Y}
    wanted = tilefold.reduce("sum_j |x_i - y_j|", session=session, **arrays)
    if what == "of the card":
        driver.memory = 40_000
    else:
        driver.refuses_pinned = 1
        session = session_of()
    with pytest.raises(tilefold.OutOfMemory, match="free memory of the"):
        tilefold.reduce("sum_j |x_i - y_j|", session=session, **arrays)
    driver.memory, driver.refuses_pinned = 1 << 30, 0
    again = tilefold.reduce("sum_j |x_i - y_j|", session=session, **arrays)
    assert again.tobytes() == wanted.tobytes()


def test_without_a_driver_nothing_is_computed_elsewhere():
    session = session_of(cuda_driver="/no/libcuda.so.1")
    with pytest.raises(tilefold.DeviceError, match="no NVIDIA driver"):
        tilefold.reduce("sum_j x_i·x_j", x=X, session=session)
