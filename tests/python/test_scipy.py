# tests/python/test_scipy.py - SciPy's solvers with kernels, against the same
# solvers with dense matrices.
from __future__ import annotations

import importlib
import subprocess
import sys
import warnings
from pathlib import Path

import array_api_strict
import numpy as np
import pytest
import scipy.sparse
import scipy.sparse.linalg as sla
import torch

import tilefold
import tilefold.scipy
from tilefold.scipy import inverse, operator, preconditioner

EXAMPLES = Path(__file__).parents[2] / "examples"
RANDOM = np.random.default_rng(5)
N, M = 60, 40
X, Y = RANDOM.normal(size=(N, 3)), RANDOM.normal(size=(M, 3))
B, C = RANDOM.normal(size=N), RANDOM.normal(size=M)
GAUSSIAN = "exp(-|x_i - x_j|²/2)"


def symmetric(dtype="float64", ridge=1.0):
    """A kernel that is well conditioned, and the dense one in float64."""
    x = X.astype(dtype)
    kernel = tilefold.kernel(GAUSSIAN, x=x).add_diag(
        np.dtype(dtype).type(ridge)
    )
    wide = x.astype("float64")
    dense = np.exp(-((wide[:, None] - wide) ** 2).sum(-1) / 2)
    return kernel, dense + ridge * np.eye(N)


def hermitian():
    phase = tilefold.lazy(X[:, 0], axis="i") - tilefold.lazy(X[:, 0], axis="j")
    kernel = tilefold.kernel(GAUSSIAN, x=X).add_diag(1.0) * np.exp(1j * phase)
    phases = np.exp(1j * (X[:, 0][:, None] - X[:, 0]))
    return kernel, symmetric()[1] * phases


def rectangular(dtype="float64"):
    x, y = X.astype(dtype), Y.astype(dtype)
    wide = x.astype("float64")[:, None] - y.astype("float64")
    kernel = tilefold.kernel("exp(-|x_i - y_j|²/2)", x=x, y=y)
    return kernel, np.exp(-(wide**2).sum(-1) / 2)


def unsymmetric():
    kernel = symmetric()[0] + 0.1 * tilefold.kernel("x_i[0] + 0*x_j[0]", x=X)
    return kernel, symmetric()[1] + 0.1 * X[:, :1]


def complex_rectangular():
    kernel, dense = rectangular()
    turn = 1j * tilefold.kernel("x_i[0]*y_j[1]", x=X, y=Y)
    return kernel + turn, dense + 1j * X[:, :1] * Y[:, 1]


MATRICES = {
    "symmetric": symmetric,
    "hermitian": hermitian,
    "rectangular": rectangular,
    "complex": complex_rectangular,
    "unsymmetric": unsymmetric,
    "transpose": lambda: tuple(m.T for m in rectangular()),
    "adjoint": lambda: tuple(m.conj().T for m in complex_rectangular()),
}


def vectors(count, kind, columns=None):
    shape = (count,) if columns is None else (count, columns)
    values = RANDOM.normal(size=shape)
    return values + 1j * RANDOM.normal(size=shape) if kind == "c" else values


# ---- products ---------------------------------------------------------------


@pytest.mark.parametrize("kind", ["f", "c"])
@pytest.mark.parametrize("name", MATRICES)
def test_products_of_a_kernel_and_of_its_operator(name, kind):
    kernel, dense = MATRICES[name]()
    wide = operator(kernel)
    rows, columns = dense.shape
    assert wide.shape == dense.shape
    assert wide.dtype == dense.dtype
    for matrix in (kernel, wide, wide.T.T, wide.H.H, kernel.H.H):
        for given in (vectors(columns, kind), vectors(columns, kind, 1)):
            found = matrix.matvec(given)
            assert found.shape == (rows, *given.shape[1:])
            np.testing.assert_allclose(found, dense @ given, atol=1e-12)
        given = vectors(columns, kind, 3)
        np.testing.assert_allclose(
            matrix.matmat(given), dense @ given, atol=1e-12
        )
        np.testing.assert_allclose(matrix.dot(given), dense @ given, atol=1e-12)
        adjoint = dense.conj().T
        for given in (vectors(rows, kind), vectors(rows, kind, 1)):
            np.testing.assert_allclose(
                matrix.rmatvec(given), adjoint @ given, atol=1e-12
            )
        given = vectors(rows, kind, 3)
        for found in (
            matrix.rmatmat(given),
            matrix.adjoint().matmat(given),
            matrix.H @ given,
        ):
            np.testing.assert_allclose(found, adjoint @ given, atol=1e-12)
        found = matrix.transpose().matmat(given)
        np.testing.assert_allclose(found, dense.T @ given, atol=1e-12)


def test_many_columns_are_one_pass():
    kernel, _ = rectangular()
    wide = operator(kernel)
    runs = tilefold.stats().runs
    wide.matmat(RANDOM.normal(size=(M, 16)))
    one = tilefold.stats().runs - runs
    wide.matvec(C)
    assert tilefold.stats().runs - runs == 2 * one
    wide.rmatmat(RANDOM.normal(size=(N, 16)))
    assert wide.passes == 3


@pytest.mark.parametrize(
    ("x", "expected"),
    [
        (np.float64, "float64"),
        (np.float32, "float32"),
        (np.float16, "float32"),
        (np.int64, "float64"),
        (np.int8, "float32"),
    ],
)
def test_the_dtype_is_that_of_a_product(x, expected):
    points = (3 * X).astype(x)
    kernel = tilefold.kernel("x_i·x_j", x=points)
    runs = tilefold.stats().runs
    wide = operator(kernel)
    assert tilefold.stats().runs == runs
    assert wide.dtype == expected
    assert (kernel @ np.ones(N, expected)).dtype == expected
    assert wide.matvec(np.ones(N)).dtype == expected


def test_vectors_are_converted_to_the_dtype():
    kernel, dense = symmetric("float32")
    double = operator(kernel, np.float64)
    assert double.dtype == np.float64
    found = double.matvec(B.astype("float32"))
    assert found.dtype == np.float64
    exact = dense @ B.astype("float32").astype("float64")
    np.testing.assert_allclose(found, exact, rtol=1e-12, atol=1e-12)
    single = operator(symmetric()[0], "float32")
    assert single.matvec(B).dtype == np.float32
    assert operator(kernel).matvec(B + 1j * B).dtype == np.complex64
    assert (double + double.T).dtype == np.float64


# ---- solvers ----------------------------------------------------------------


def close(found, expected, tolerance=1e-12):
    scale = np.abs(expected).max()
    np.testing.assert_allclose(found, expected, atol=tolerance * scale, rtol=0)


def of_kernel(kernel):
    return kernel


FORMS = {"kernel": of_kernel, "operator": operator}
SYSTEMS = {
    name: getattr(sla, name)
    for name in (
        "cg", "minres", "gmres", "lgmres", "bicg", "bicgstab", "cgs", "qmr",
        "tfqmr", "gcrotmk",
    )
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", SYSTEMS)
def test_systems(name, form):
    general = name not in ("cg", "minres")
    kernel, dense = unsymmetric() if general else symmetric()
    x, status = SYSTEMS[name](FORMS[form](kernel), B, rtol=1e-14, maxiter=2000)
    assert status == 0
    close(x, np.linalg.solve(dense, B))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", ["cg", "gmres", "bicgstab", "gcrotmk"])
def test_complex_systems(name, form):
    kernel, dense = hermitian()
    b = B + 1j * B[::-1]
    x, status = SYSTEMS[name](FORMS[form](kernel), b, rtol=1e-14, maxiter=2000)
    assert status == 0
    close(x, np.linalg.solve(dense, b))


def test_single_precision():
    kernel, dense = symmetric("float32")
    wide = operator(kernel)
    b = B.astype("float32")
    x, status = sla.cg(wide, b, rtol=1e-6)
    assert status == 0
    assert x.dtype == np.float32
    close(x, np.linalg.solve(dense, b), 1e-5)
    values = sla.eigsh(wide, k=3, return_eigenvectors=False)
    assert values.dtype == np.float32
    close(values, np.linalg.eigvalsh(dense)[-3:], 1e-5)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", ["lsqr", "lsmr"])
@pytest.mark.parametrize("matrix", ["rectangular", "complex"])
def test_least_squares(name, form, matrix):
    kernel, dense = MATRICES[matrix]()
    b = dense @ C  # what can be reached
    b = b + 0.1 * np.cos(np.arange(N))
    damped = getattr(sla, name)(
        FORMS[form](kernel), b, damp=0.5, atol=1e-15, btol=1e-15
    )[0]
    square = dense.conj().T @ dense + 0.25 * np.eye(M)
    close(damped, np.linalg.solve(square, dense.conj().T @ b), 1e-10)


@pytest.mark.parametrize("form", FORMS)
def test_symmetric_eigenvalues(form):
    for make in (symmetric, hermitian):
        kernel, dense = make()
        values, found = sla.eigsh(FORMS[form](kernel), k=5, tol=1e-14)
        close(np.sort(values), np.linalg.eigvalsh(dense)[-5:])
        close(dense @ found, found * values)


@pytest.mark.parametrize("form", FORMS)
def test_eigenvalues(form):
    kernel, dense = unsymmetric()
    values = sla.eigs(FORMS[form](kernel), k=4, return_eigenvectors=False)
    exact = np.linalg.eigvals(dense)
    exact = exact[np.argsort(-np.abs(exact))][:4]
    close(np.sort(values.real), np.sort(exact.real))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("solver", ["arpack", "lobpcg", "propack"])
@pytest.mark.parametrize("matrix", ["rectangular", "complex"])
def test_singular_values(matrix, solver, form):
    kernel, dense = MATRICES[matrix]()
    values = sla.svds(
        FORMS[form](kernel),
        k=3,
        solver=solver,
        rng=np.random.default_rng(0),
        return_singular_vectors=False,
        maxiter=1000,
    )
    exact = np.linalg.svd(dense, compute_uv=False)[:3]
    # LOBPCG's own tolerance is √ε of the squares.
    close(np.sort(values)[::-1], exact, 1e-7 if solver == "lobpcg" else 1e-12)


def test_blocks_of_eigenvectors():
    kernel, dense = symmetric()
    wide = operator(kernel)
    start = np.random.default_rng(0).normal(size=(N, 4))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a tolerance beyond reach
        values, _ = sla.lobpcg(wide, start, maxiter=300, tol=1e-13)
    close(values, np.linalg.eigvalsh(dense)[:-5:-1])


@pytest.mark.parametrize("form", FORMS)
def test_one_norms(form):
    kernel, dense = unsymmetric()
    found = sla.onenormest(FORMS[form](kernel))
    close(found, np.abs(dense).sum(0).max())


def test_exponentials():
    for make in (symmetric, unsymmetric):
        kernel, dense = make()
        wide = operator(-kernel)
        found = sla.expm_multiply(wide, B, traceA=-kernel.trace())
        close(found, scipy.linalg.expm(-dense) @ B)


def test_shift_and_invert():
    kernel, dense = symmetric(ridge=0.0)
    exact = np.linalg.eigvalsh(dense)
    sigma = exact[-4] + 0.3 * (exact[-3] - exact[-4])
    found = sla.eigsh(
        operator(kernel),
        k=2,
        sigma=sigma,
        OPinv=inverse(kernel, -sigma, method="minres"),
        return_eigenvectors=False,
    )
    nearest = np.sort(exact[np.argsort(np.abs(exact - sigma))][:2])
    close(np.sort(found), nearest, 1e-10)


def test_inverses_are_linear_operators():
    kernel, dense = hermitian()
    wide = inverse(kernel, 0.5)
    exact = np.linalg.inv(dense + 0.5 * np.eye(N))
    sides = vectors(N, "c", 3)
    for found in (wide @ sides, wide.rmatmat(sides), wide.H @ sides):
        close(found, exact @ sides, 1e-10)
    close(wide.matvec(sides[:, 0]), exact @ sides[:, 0], 1e-10)
    close(wide.T @ sides, exact.T @ sides, 1e-10)


def test_preconditioners_save_iterations():
    points = np.random.default_rng(2).normal(size=(700, 3))
    kernel = tilefold.kernel(GAUSSIAN, x=points)
    b = points[:, 0]
    ridge = 1e-3
    counts = {}
    for rank in (None, 20, 1):
        steps = []
        found, status = sla.cg(
            operator(kernel.add_diag(ridge)),
            b,
            M=preconditioner(kernel, ridge, rank),
            rtol=1e-10,
            maxiter=2000,
            callback=steps.append,
        )
        assert status == 0
        left = kernel @ found + ridge * found - b
        assert np.linalg.norm(left) < 1e-8 * np.linalg.norm(b)
        counts[rank] = len(steps)
    assert 3 * counts[None] < counts[20] < counts[1]
    assert preconditioner(kernel, ridge).rank == 100
    assert preconditioner(kernel, ridge, 30).rank == 30
    assert preconditioner(kernel, 1e9).rank == 0


def test_a_preconditioner_is_the_inverse_where_it_takes_all_rows():
    kernel, dense = hermitian()
    found = preconditioner(kernel, 0.5, N) @ vectors(N, "c", 2)
    assert found.shape == (N, 2)
    sides = vectors(N, "c", 2)
    exact = np.linalg.solve(dense + 0.5 * np.eye(N), sides)
    close(preconditioner(kernel, 0.5, N) @ sides, exact, 1e-10)


# ---- algebra ----------------------------------------------------------------


def test_sums_and_products_with_operators_of_scipy():
    kernel, dense = symmetric()
    other = RANDOM.normal(size=(N, N))
    scipys = sla.aslinearoperator(other)
    for found, exact in {
        "K + A": (kernel + scipys, dense + other),
        "A + K": (scipys + kernel, dense + other),
        "K - A": (kernel - scipys, dense - other),
        "A - K": (scipys - kernel, other - dense),
        "K @ A": (kernel @ scipys, dense @ other),
        "A @ operator(K)": (scipys @ operator(kernel), other @ dense),
        "2 operator(K)": (2 * operator(kernel), 2 * dense),
    }.values():
        assert isinstance(found, sla.LinearOperator)
        close(found @ B, exact @ B)
        close(found.rmatvec(B), exact.T @ B)


def test_operators_take_kernels_for_operators():
    kernel, dense = symmetric()
    inverted = np.linalg.inv(dense)
    lazy = (
        tilefold.lazy(X, axis="i")[..., 0] * tilefold.lazy(Y, axis="j")[..., 0]
    )
    thin = X[:, :1] * Y[:, 0]
    conditioned = preconditioner(kernel, 0.5)
    for found, exact in {
        "operator @ K": (operator(kernel) @ kernel, dense @ dense),
        "operator.dot": (operator(kernel).dot(kernel), dense @ dense),
        "operator * K": (operator(kernel) * kernel, dense @ dense),
        "operator(K)": (operator(kernel)(kernel), dense @ dense),
        "operator @ lazy": (operator(kernel) @ lazy, dense @ thin),
        "inverse @ K": (inverse(kernel) @ kernel, inverted @ dense),
        "inverse @ lazy": (inverse(kernel) @ lazy, inverted @ thin),
        "preconditioner @ K": (
            conditioned @ kernel,
            conditioned @ dense,
        ),
    }.values():
        assert isinstance(found, sla.LinearOperator)
        given = B if found.shape[1] == N else C
        close(found @ given, exact @ given, 1e-9)
        close(found.rmatvec(B), exact.T @ B, 1e-9)
    with pytest.raises(ValueError, match="shape mismatch"):
        operator(rectangular()[0]) @ kernel


def test_a_ridge_stays_in_the_kernel():
    kernel, dense = symmetric()
    wide = operator(kernel).add_ridge(0.25)
    close(wide @ B, dense @ B + 0.25 * B)
    assert wide.passes == 1


def test_scipy_may_ask_for_the_operator():
    kernel, _ = rectangular()
    assert isinstance(
        kernel.__aslinearoperator__(), tilefold.scipy.KernelOperator
    )
    lazy = (tilefold.lazy(X, axis="i") - tilefold.lazy(Y, axis="j")).sum(-1)
    close(operator(lazy) @ C, lazy.dense() @ C)


@pytest.mark.parametrize(
    "convert",
    [
        torch.as_tensor,
        lambda x: torch.tensor(x, requires_grad=True),
        array_api_strict.asarray,
    ],
    ids=["torch", "torch with gradients", "strict"],
)
def test_arrays_of_other_libraries(convert):
    dense = symmetric()[1] - np.eye(N)
    kernel = tilefold.kernel(GAUSSIAN, x=convert(X))
    values = sla.eigsh(operator(kernel), k=3, return_eigenvectors=False)
    assert isinstance(values, np.ndarray)
    close(values, np.linalg.eigvalsh(dense)[-3:])
    assert isinstance(inverse(kernel, 1.0) @ B, np.ndarray)
    assert isinstance(preconditioner(kernel, 1.0) @ B, np.ndarray)


# ---- the example ------------------------------------------------------------


def test_modes_of_a_rectangle_are_known(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(EXAMPLES))
    plate_modes = importlib.import_module("plate_modes")
    side = (np.arange(30) + 0.5) / 30
    points = np.stack(np.meshgrid(side, side[:20]), -1).reshape(-1, 2)
    values, waves, _ = plate_modes.modes(points, 1 / 30**2, 3)
    exact = np.array([1, 2.25, 3.25])  # of sides 1 and 2/3
    np.testing.assert_allclose(values / np.pi**2, exact, rtol=0.12)
    flat = np.cos(np.pi * points * [1, 1.5])
    flat = np.concatenate([flat, flat[:, :1] * flat[:, 1:]], 1)
    scale = (flat * waves).sum(0) / (flat**2).sum(0)
    np.testing.assert_allclose(waves, flat * scale, atol=0.1 * waves.max())
    monkeypatch.setattr(plate_modes, "STEP", 0.08)
    plate_modes.main(str(tmp_path / "modes.png"))
    assert (tmp_path / "modes.png").read_bytes()[:4] == b"\x89PNG"


# ---- what is refused --------------------------------------------------------

BATCHES = tilefold.kernel("x_i·y_j", x=X.reshape(2, 30, 3), y=Y)
VALUES = tilefold.kernel("x_i - y_j", x=X, y=Y)
SPARSE = scipy.sparse.csr_array(np.eye(N))
SHAPE, DTYPE, ARGUMENT = (
    tilefold.ShapeError, tilefold.DTypeError, tilefold.ArgumentError,
)  # fmt: skip
REFUSALS = {
    "a longer vector": (
        lambda k: k.matvec(np.ones(N + 1)), SHAPE,
        "'matvec' of a kernel of shape (60, 60) was given an array of shape "
        "(61,)\npass one of shape (60,) or (60, 1)",
    ),
    "columns for a vector": (
        lambda k: k.rmatvec(np.ones((N, 2))), SHAPE, "(60, 2)",
    ),
    "a vector for columns": (
        lambda k: k.matmat(np.ones(N)), SHAPE, "pass one of shape (60, E)",
    ),
    "rows for columns": (
        lambda k: k.rmatmat(np.ones((2, N))), SHAPE, "(2, 60)",
    ),
    "a batch": (lambda _: operator(BATCHES), SHAPE, "(2, 30, 40)"),
    "a vector of a batch": (
        lambda _: BATCHES.matvec(C), SHAPE, "take a matrix of it, as in K[0]",
    ),
    "vectors": (lambda _: inverse(VALUES), SHAPE, "(60, 40, 3)"),
    "sparse @ K": (lambda k: SPARSE @ k, ARGUMENT, "28.1 KiB"),
    "K @ sparse": (lambda k: k @ SPARSE, DTYPE, "is a sparse array"),
    "operator @ K": (
        lambda k: sla.aslinearoperator(np.eye(N)) @ k, ARGUMENT,
        "tilefold.scipy.operator(K) is SciPy's",
    ),
    "an array": (
        lambda _: operator(np.eye(3)), ARGUMENT, "pass a tilefold.Kernel",
    ),
    "whole numbers": (
        lambda k: operator(k, int), ARGUMENT, "pass float32, float64,",
    ),
    "no ridge": (
        lambda k: preconditioner(k, 0.0), ARGUMENT, "pass a number above 0",
    ),
    "no rank": (
        lambda k: preconditioner(k, 1.0, 0), ARGUMENT, "a whole number, 1",
    ),
    "a matrix that is not square": (
        lambda _: preconditioner(rectangular()[0], 1.0), SHAPE, "(60, 40)",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSALS)
def test_what_is_refused(name):
    use, kind, message = REFUSALS[name]
    with pytest.raises(kind) as caught:
        use(symmetric()[0])
    assert message in str(caught.value)


def test_vectors_of_wrong_lengths_are_value_errors_as_in_scipy():
    with pytest.raises(ValueError, match="dimension mismatch"):
        operator(symmetric()[0]).matvec(np.ones(N + 1))
    with pytest.raises(ValueError, match="was given"):
        symmetric()[0].matvec(np.ones(N + 1))


def test_arrays_of_a_device_are_refused():
    class Elsewhere(np.ndarray):
        def __dlpack_device__(self):
            return (2, 0)

    kernel = tilefold.kernel(GAUSSIAN, x=X)
    kernel._pair.arguments["x"] = X.view(Elsewhere)
    with pytest.raises(
        tilefold.DeviceError, match="and SciPy computes on the CPU"
    ):
        operator(kernel)


def test_scipy_is_imported_only_when_it_is_named():
    code = (
        "import sys, tilefold, numpy as np;"
        "K = tilefold.kernel('x_i·x_j', x=np.ones((4, 2)));"
        "K.matvec(np.ones(4)), K + 1, K.H, K.trace();"
        "assert 'scipy' not in sys.modules;"
        "tilefold.scipy;"
        "assert 'scipy' in sys.modules;"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
