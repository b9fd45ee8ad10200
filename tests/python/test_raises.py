# tests/python/test_raises.py - what docstrings say is raised is.
"""Each exception under Raises has a call here that raises it."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pytest

import tilefold
from test_docstrings import Name, exception, names_of, sections
from tilefold.trace import Tracer

MODULES = ("tilefold", "tilefold.trace", "tilefold.scipy", "tilefold.files")
X, Y = np.array([0.0, 1.0]), np.array([0.0, 1.0, 3.0])
POINTS = np.zeros((3, 2))
TEXT = np.array(["a", "b"])
TOO_MANY = np.broadcast_to(1.0, 2**50)  # which is 8 bytes

# Of other machines, or of a GPU: their own tests meet them.
ELSEWHERE = {
    ("Formula.check", "DeviceError"),
    ("scipy.operator", "DeviceError"),
    ("scipy.inverse", "DeviceError"),
    ("ArrayConventions.to_device", "RuntimeError"),  # of PyTorch
}


def formula() -> tilefold.Formula:
    return tilefold.compile("sum_j |x_i - y_j|")


def kernel(x=X, y=Y) -> tilefold.Kernel:
    return tilefold.kernel("|x_i - y_j|", x=x, y=y)


def square() -> tilefold.Kernel:
    return tilefold.kernel("exp(-|x_i - x_j|)", x=X)


def lazies(y=POINTS) -> tuple[tilefold.Lazy, tilefold.Lazy]:
    return tilefold.lazy(POINTS, axis="i"), tilefold.lazy(y, axis="j")


def matrix() -> tilefold.Lazy:
    x, y = lazies()
    return (x - y).sum(-1)


def clusters() -> tilefold.Clusters:
    return tilefold.Clusters(X, size=1.0)


def reduction() -> tilefold.Reduction:
    return tilefold.Reduction("sum_j y_j")


def called(method: str) -> dict[str, object]:
    """What a method of formulas, or a function of their text, refuses."""

    def call(**arrays: object) -> object:
        return getattr(formula(), method)(**arrays)

    return {
        "ShapeError": lambda: call(x=POINTS, y=np.zeros((3, 3))),
        "DTypeError": lambda: call(x=TEXT, y=Y),
        "ArgumentError": lambda: call(x=X),
        "OutOfMemory": lambda: call(x=TOO_MANY, y=Y),
    }


def of_text(function, text: str = "sum_j |x_i - y_j|") -> dict[str, object]:
    return {
        "FormulaError": lambda: function("sum_j foo(", x=X, y=Y),
        "ShapeError": lambda: function(text, x=POINTS, y=np.zeros((3, 3))),
        "DTypeError": lambda: function(text, x=TEXT, y=Y),
        "ArgumentError": lambda: function(text, x=X),
        "OutOfMemory": lambda: function(text, x=TOO_MANY, y=Y),
    }


def derived(method: str, **seed: object) -> dict[str, object]:
    best = tilefold.compile("argmin_j |x_i - y_j|")
    return {
        "FormulaError": lambda: getattr(best, method)("x")(x=X, y=Y, **seed),
        "ArgumentError": lambda: getattr(formula(), method)("z"),
    }


def over_axis(name: str, *given: object) -> dict[str, object]:
    return {
        "ArgumentError": lambda: getattr(kernel(), name)(*given, axis=7),
    }


def of_product(name: str, shape: tuple[int, ...]) -> dict[str, object]:
    return {"ShapeError": lambda: getattr(kernel(), name)(np.ones(shape))}


def of_components(name: str) -> dict[str, object]:
    x, _ = lazies()
    return {
        "ArgumentError": lambda: getattr(matrix(), name)(axis=7),
        "ShapeError": lambda: getattr(x, name)(axis=0),
    }


def of_parts(name: str) -> dict[str, object]:
    text = "sum_j |y_j - c_j|"

    def call(**arrays: object) -> object:
        return getattr(tilefold.Reduction(text), name)(**arrays)

    return {
        "ShapeError": lambda: call(y=X, c=Y),
        "DTypeError": lambda: call(y=TEXT, c=X),
        "ArgumentError": lambda: call(y=X),
    }


def of_files(name: str, *before: object) -> dict[str, object]:
    def call(text: str) -> object:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "x.npy")
            path.write_text("nothing of NumPy's")
            found = text.replace("FOLDER", folder)
            return getattr(tilefold.files, name)(*before, found)

    return {
        "FileError": lambda: call("FOLDER/x.npy" if not before else "x.what"),
        "OSError": lambda: call("FOLDER/nowhere/x.npy"),
    }


def while_it_runs() -> None:
    x = np.zeros(30_000)
    step: list[tilefold.Bound] = []

    def again(*_: float) -> None:
        step[0]()

    options = tilefold.Options(progress=again, threads=1)
    bound = tilefold.compile("sum_j exp(-|x_i - x_j|)").bind(
        x=x, options=options
    )
    step.append(bound)
    bound()


def from_bytes(data: bytes) -> object:
    return tilefold.State.from_bytes(data)


METHODS = {
    # ---- formulas ------------------------------------------------------------
    "tilefold.compile": {
        "FormulaError": lambda: tilefold.compile("sum_j foo(")
    },
    "tilefold.reduce": of_text(tilefold.reduce),
    "tilefold.explain": of_text(tilefold.explain),
    "tilefold.kernel": of_text(tilefold.kernel, "|x_i - y_j|"),
    "tilefold.natural_spelling": {
        "FormulaError": lambda: tilefold.natural_spelling("Foo(x)", [])
    },
    "tilefold.Formula": {"FormulaError": lambda: tilefold.Formula("sum_j (")},
    "Formula.__call__": called("__call__"),
    "Formula.explain": called("explain"),
    "Formula.plans": called("plans"),
    "Formula.check": called("check"),
    "Formula.bind": called("bind"),
    "Formula.grad": derived("grad", grad=1.0),
    "Formula.jvp": derived("jvp", tangent=X),
    "Formula.result_types": {
        "ShapeError": lambda: formula().result_types(
            {"x": POINTS, "y": np.zeros((3, 3))}
        ),
        "DTypeError": lambda: formula().result_types({"x": TEXT, "y": Y}),
        "ArgumentError": lambda: formula().result_types({"x": X}),
    },
    "tilefold.Bound": {"ArgumentError": while_it_runs},
    "Bound.__call__": {"ArgumentError": while_it_runs},
    "tilefold.Options": {
        "ArgumentError": lambda: tilefold.Options(threads=0),
        "DeviceError": lambda: tilefold.Options(isa="none"),
        "TypeError": lambda: tilefold.Options(threads="two"),
    },
    "tilefold.Session": {
        "ArgumentError": lambda: tilefold.Session(
            tilefold.Options(cache_key_file="/nowhere")
        )
    },
    "tilefold.cite": {"ArgumentError": lambda: tilefold.cite("other")},
    "tilefold.ArgumentType": {
        "TypeError": lambda: tilefold.ArgumentType(3, "f4")
    },
    # ---- kernels -------------------------------------------------------------
    "Kernel.add_diag": {"ShapeError": lambda: square().add_diag(Y)},
    "Kernel.topk": {
        **over_axis("topk", 1),
        "FormulaError": lambda: kernel().topk(0, axis=1),
    },
    "Kernel.radius_neighbors": {
        "ShapeError": lambda: tilefold.kernel(
            "x_i - x_j", x=POINTS
        ).radius_neighbors(1.0),
        "ArgumentError": lambda: tilefold.kernel(
            "-|x_i - x_j|", x=X
        ).radius_neighbors(1.0),
    },
    "Kernel.diag": {"ShapeError": lambda: kernel().diag()},
    "Kernel.dense": {
        "OutOfMemory": lambda: kernel(TOO_MANY, Y).dense(),
    },
    "ArrayConventions.astype": {
        "DTypeError": lambda: kernel().astype("int64"),
    },
    "ArrayConventions.to_device": {
        "ValueError": lambda: kernel().to_device("cuda:0"),
    },
    "LinearOperatorMethods.dot": {
        "ShapeError": lambda: kernel().dot(X),
        "ArgumentError": lambda: kernel().dot(kernel()),
    },
    "LinearOperatorMethods.matvec": of_product("matvec", (7,)),
    "LinearOperatorMethods.matmat": of_product("matmat", (7, 2)),
    "LinearOperatorMethods.rmatvec": of_product("rmatvec", (7,)),
    "LinearOperatorMethods.rmatmat": of_product("rmatmat", (7, 2)),
    "LinearOperatorMethods.trace": {"ShapeError": lambda: kernel().trace()},
    "LinearSystems.solve": {
        "ShapeError": lambda: square().solve(Y),
        "ArgumentError": lambda: square().solve(X, method="none"),
    },
    "LinearSystems.logdet": {
        "ShapeError": lambda: kernel().logdet(),
        "ArgumentError": lambda: square().logdet(probes=0),
    },
    "LinearSystems.inv_quad_logdet": {
        "ShapeError": lambda: square().inv_quad_logdet(Y),
        "ArgumentError": lambda: square().inv_quad_logdet(X, rtol=-1),
    },
    "Operations.apply": {
        "ArgumentError": lambda: tilefold.Kernel.apply("sort", (kernel(),), {})
    },
    # ---- lazy and traced values ----------------------------------------------
    "tilefold.lazy": {
        "ArgumentError": lambda: tilefold.lazy(POINTS, axis="k"),
        "ShapeError": lambda: tilefold.lazy(POINTS),
    },
    "Lazy.of": {
        "ArgumentError": lambda: tilefold.Lazy.of(kernel()),
        "ShapeError": lambda: tilefold.Lazy.of(np.zeros((4, 3, 2))),
    },
    "Lazy.made": {
        "FormulaError": lambda: tilefold.Lazy.made("foo(", [], 0),
        "ShapeError": lambda: tilefold.Lazy.made(
            "{0}·{1}", lazies(np.ones((3, 3))), 0
        ),
    },
    "Lazy.apply": {
        "ArgumentError": lambda: tilefold.Lazy.apply("sort", (matrix(),), {})
    },
    "Lazy.to_matrix_formula": {
        "ShapeError": lambda: lazies()[0].to_matrix_formula()
    },
    "Tracer.to_formula": {
        "FormulaError": lambda: Tracer.parameter(X, "x" * 200_000).to_formula()
    },
    "Tracer.of": {"ArgumentError": lambda: Tracer.of("text")},
    "Tracer.apply": {
        "ArgumentError": lambda: Tracer.apply("sort", (Tracer.of(2),), {})
    },
    "Tracer.literal": {
        "ValueError": lambda: Tracer.literal("text"),
        "TypeError": lambda: Tracer.literal(1j),
    },
    "ComponentMethods.sum": of_components("sum"),
    "ComponentMethods.max": of_components("max"),
    "ComponentMethods.min": of_components("min"),
    **{
        f"ComponentMethods.{name}": {
            "ArgumentError": lambda name=name: getattr(
                Tracer.parameter(POINTS[0]), name
            )(axis=1)
        }
        for name in (
            "norm",
            "mean",
            "prod",
            "any",
            "all",
            "var",
            "std",
            "ptp",
            "argmax",
            "argmin",
        )
    },
    "ComponentMethods.dot": {
        "ShapeError": lambda: lazies()[0].dot(lazies(np.ones((3, 3)))[1]).shape,
        "ArgumentError": lambda: matrix().dot(matrix()),
    },
    "trace.trace": {
        "ArgumentError": lambda: tilefold.trace.trace(
            lambda x, y: np.sort(x - y), {"x": X, "y": Y}
        ),
    },
    # ---- points --------------------------------------------------------------
    "tilefold.radius_neighbors": {
        "ArgumentError": lambda: tilefold.radius_neighbors(X, metric="none"),
        "ShapeError": lambda: tilefold.radius_neighbors(
            POINTS, np.zeros((3, 3))
        ),
        "DTypeError": lambda: tilefold.radius_neighbors(TEXT),
    },
    "tilefold.quantize": {
        "ArgumentError": lambda: tilefold.quantize(X, bits=3)
    },
    "tilefold.Quantized": {
        "ValueError": lambda: tilefold.Quantized(np.zeros(3, np.int8), "a", 0)
    },
    "tilefold.Clusters": {"ArgumentError": lambda: tilefold.Clusters(X)},
    "Clusters.sort": {"ArgumentError": lambda: clusters().sort(X[:1])},
    "Clusters.unsort": {"ArgumentError": lambda: clusters().unsort(X[:1])},
    "Clusters.near": {
        "ShapeError": lambda: clusters().near(
            tilefold.Clusters(POINTS, size=1.0), 1.0
        ),
        "DTypeError": lambda: clusters().near(clusters(), "near"),
    },
    "Clusters.ranges": {
        "ArgumentError": lambda: clusters().ranges(clusters(), [[True]]),
        "DTypeError": lambda: clusters().ranges(clusters(), np.eye(2)),
    },
    "tilefold.Ranges": {
        "ArgumentError": lambda: tilefold.Ranges([2, 0], [0, 3], [[True]]),
        "DTypeError": lambda: tilefold.Ranges([0, 2], [0, 3], [[1]]),
    },
    "Ranges.from_intervals": {
        "ArgumentError": lambda: tilefold.Ranges.from_intervals(
            [[0, 2]], [0, 2], [[0, 1]]
        ),
        "DTypeError": lambda: tilefold.Ranges.from_intervals(
            [[0.5, 2]], [0, 1], [[0, 1]]
        ),
    },
    "Ranges.mask": {
        "ValueError": lambda: tilefold.Ranges([0, 1], [0, 1], [[True]]).mask(
            -1, 2
        ),
        "MemoryError": lambda: tilefold.Ranges([0, 1], [0, 1], [[True]]).mask(
            2**40, 2**20
        ),
    },
    # ---- parts ---------------------------------------------------------------
    "tilefold.Reduction": {
        "ArgumentError": lambda: tilefold.Reduction("var_j y_j").partial(y=Y)
    },
    "Reduction.passes": {
        "ArgumentError": lambda: tilefold.Reduction("var_j y_j").passes(
            y=np.zeros(3, np.uint64)
        )
    },
    "Reduction.sweeps": of_parts("sweeps"),
    "Reduction.order_free": of_parts("order_free"),
    "Reduction.identity": of_parts("identity"),
    "Reduction.partial": of_parts("partial"),
    "Reduction.__call__": of_parts("__call__"),
    "Reduction.merge": {"ArgumentError": lambda: reduction().merge()},
    "Reduction.concatenate": {
        "ArgumentError": lambda: reduction().concatenate()
    },
    "Reduction.finalise": {
        "ArgumentError": lambda: reduction().finalise(
            reduction().partial(y=X, j=(0, 5))
        )
    },
    "State.from_bytes": {"ArgumentError": lambda: from_bytes(b"nothing")},
    # ---- libraries -----------------------------------------------------------
    "scipy.operator": {
        "ShapeError": lambda: tilefold.scipy.operator(
            tilefold.kernel("x_i - x_j", x=POINTS)
        ),
        "ArgumentError": lambda: tilefold.scipy.operator(3),
    },
    "scipy.inverse": {
        "ShapeError": lambda: tilefold.scipy.inverse(
            tilefold.kernel("x_i - x_j", x=POINTS)
        ),
        "ArgumentError": lambda: tilefold.scipy.inverse(3),
    },
    "scipy.preconditioner": {
        "ShapeError": lambda: tilefold.scipy.preconditioner(kernel(), 1.0),
        "ArgumentError": lambda: tilefold.scipy.preconditioner(square(), -1.0),
    },
    "KernelOperator.add_ridge": {
        "ShapeError": lambda: tilefold.scipy.operator(square()).add_ridge(Y)
    },
    # Every operator of ours has it of a base class without a public name.
    "_TakesKernels.dot": {
        "ValueError": lambda: tilefold.scipy.operator(square()).dot(Y)
    },
    "files.read": of_files("read"),
    "files.write": of_files("write", X),
}
OVER_AXES = (
    *("sum", "mean", "prod", "max", "min", "any", "all", "count", "var"),
    *("std", "logsumexp", "median", "norm", "argmin", "argmax", "softmax"),
)
for _name in OVER_AXES:
    METHODS[f"Reductions.{_name}"] = over_axis(_name)
for _name, _number in {"quantile": 0.5, "kmin": 1, "argkmin": 1}.items():
    METHODS[f"Reductions.{_name}"] = over_axis(_name, _number)
for _name, *_given in [
    *((name,) for name in OVER_AXES if name not in ("sum", "max", "min")),
    *(("quantile", 0.5), ("kmin", 1), ("argkmin", 1)),
]:
    METHODS[f"LazyReductions.{_name}"] = {
        "ArgumentError": lambda name=_name, given=_given: getattr(
            matrix(), name
        )(*given, axis=7)
    }


def key(name: Name) -> str:
    """As it is called here: the class and the method, or the function."""
    return ".".join(name.home.split(".")[-2:])


def told() -> list[tuple[str, str]]:
    """What docstrings say is raised, and by what."""
    return sorted(
        {
            (key(name), raised)
            for module in MODULES
            for name in names_of(module)
            for line in sections(name.text).get("Raises", "").splitlines()
            if line and not line.startswith(" ")
            for raised in line.split(", ")
        }
        - ELSEWHERE
    )


@pytest.mark.parametrize(("name", "raised"), told(), ids=str)
def test_what_is_said_is_raised(name, raised):
    with pytest.raises(exception(raised)) as found:
        METHODS[name][raised]()
    assert type(found.value) is exception(raised) or raised in (
        "MemoryError",  # of NumPy, a subclass of it
        "OSError",
    )


def test_no_call_is_here_in_vain():
    here = {(name, kind) for name, kinds in METHODS.items() for kind in kinds}
    unsaid = {pair for pair in here - set(told()) if pair[1] != "OutOfMemory"}
    assert unsaid == set()
