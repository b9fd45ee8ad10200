# python_bindings/tilefold/compat/pykeops/registration.py - in sys.modules.
"""Makes `import pykeops` and `import keopscore` find tilefold's modules.

A finder at the head of `sys.meta_path` gives the modules of this package by
KeOps's names, each the very same module by both of its names, and answers
`importlib.metadata.version("pykeops")`. KeOps's own tests and examples, which
lie in folders of its package, are found where `sys.path` leads to a checkout.

Processes that `multiprocessing` spawns have the `sys.path` of their parent and
nothing else, so that it leads to the folder of these packages, whose names are
KeOps's: imported from there, they register themselves in the new process.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import importlib.metadata
import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["VERSION", "attribute_of", "install", "uninstall"]

# The version of KeOps whose interface this is.
VERSION = "2.3"

_ROOTS = ("pykeops", "keopscore")
_HOME = "tilefold.compat."
_FOLDER = str(Path(__file__).parents[1])

# Folders of KeOps's packages that hold programs, not the library.
_PROGRAMS = ("benchmarks", "examples", "sandbox", "test", "tutorials")

_OPERATIONS = (
    "generic_argkmin",
    "generic_argmin",
    "generic_logsumexp",
    "generic_sum",
)
_LAZY_TENSORS = ("ComplexLazyTensor", "LazyTensor", "Pm", "Vi", "Vj", "Var")
# KeOps's modules that only hold names of others: of each the module, with {}
# for the side, and its names; None where it is a package.
_PARTS: dict[str, tuple[str, tuple[str, ...]] | None] = {
    "generic": None,
    "generic.generic_ops": ("{}", _OPERATIONS),
    "generic.generic_red": ("{}", ("Genred",)),
    "lazytensor": None,
    "lazytensor.LazyTensor": ("{}.lazy", _LAZY_TENSORS),
    "operations": ("{}", ("KernelSolve",)),
    "test_install": ("bindings", ("test_{}_bindings",)),
}
_BACKENDS = ("pykeops.numpy", "pykeops.torch")


def install(force: bool = False) -> None:
    """Makes ``pykeops`` and ``keopscore`` tilefold's, for imports from here on.

    Calling it again changes nothing. Processes that ``multiprocessing`` starts
    from here find them, too.

    Parameters
    ----------
    force : bool, default False
        Whether they are replaced where KeOps itself was imported already:
        programs hold its classes then, and what is imported later is ours.

    Raises
    ------
    ImportError
        Where KeOps itself was imported already, without force.

    See Also
    --------
    uninstall

    Examples
    --------
    >>> import tilefold.compat.pykeops as ours
    >>> ours.install(force=True)
    >>> import pykeops
    >>> pykeops is ours
    True
    >>> ours.uninstall()
    """
    for root in _ROOTS:
        loaded = sys.modules.get(root)
        if loaded is None or _is_ours(loaded):
            continue
        if not force:
            raise ImportError(
                f"{root} was imported before tilefold.compat.pykeops.install()"
                f", from {getattr(loaded, '__file__', 'somewhere')}; install "
                "first, or say install(force=True)",
                name=root,
            )
        _forget(root)
    if _FINDER not in sys.meta_path:
        sys.meta_path.insert(0, _FINDER)
    if _FOLDER not in sys.path:
        sys.path.insert(_place(), _FOLDER)
    for root in _ROOTS:
        sys.modules[root] = importlib.import_module(_HOME + root)


def uninstall() -> None:
    """Undoes ``install``: what is imported later is KeOps' own.

    What was imported from ``pykeops`` before stays as it is, in the programs
    that hold it.

    See Also
    --------
    install

    Examples
    --------
    >>> from tilefold.compat import pykeops
    >>> pykeops.uninstall()
    >>> pykeops.uninstall()  # changes nothing
    """
    if _FINDER in sys.meta_path:
        sys.meta_path.remove(_FINDER)
    if _FOLDER in sys.path:
        sys.path.remove(_FOLDER)
    for root in _ROOTS:
        if _is_ours(sys.modules.get(root)):
            _forget(root)


def _place() -> int:
    """Where `sys.path` leads to here first: before KeOps itself, or last."""
    for place, entry in enumerate(sys.path):
        if any(Path(entry, root, "__init__.py").exists() for root in _ROOTS):
            return place
    return len(sys.path)


def attribute_of(backend: str, name: str) -> ModuleType:
    """The module `name` of "numpy" or "torch", for attribute access.

    KeOps's modules are there after `import pykeops.torch`, without an import
    of their own. Raises AttributeError for names that are no module.
    """
    full = f"{_HOME}pykeops.{backend}.{name}"
    if name in _PARTS:
        return _part(f"pykeops.{backend}.{name}")
    if importlib.util.find_spec(full) is None:
        raise AttributeError(f"module 'pykeops.{backend}' has no '{name}'")
    return importlib.import_module(full)


def _is_ours(module: ModuleType | None) -> bool:
    return getattr(module, "__name__", "").startswith(_HOME)


def _forget(root: str) -> None:
    for name in list(sys.modules):
        if name == root or name.startswith(root + "."):
            del sys.modules[name]


_made: dict[str, ModuleType] = {}


def _part(name: str) -> ModuleType:
    """The module of `_PARTS` by its name in KeOps, made once."""
    if name in _made:
        return _made[name]
    backend, part = _split(name)
    side = backend.rpartition(".")[2]
    held = _PARTS[part]
    module = ModuleType(name, f"Names of {backend}, where KeOps has them.")
    if held is None:
        module.__path__ = []
        for each in _PARTS:
            parent, _, leaf = each.rpartition(".")
            if parent == part:
                setattr(module, leaf, _part(f"{backend}.{each}"))
    else:
        where, names = held
        source = importlib.import_module(f"{_HOME}pykeops.{where.format(side)}")
        for each in names:
            found = each.format(side)
            setattr(module, found, getattr(source, found))
    _made[name] = module
    return module


def _split(name: str) -> tuple[str, str]:
    """("pykeops.torch", "generic.generic_red"), or ("", "")."""
    for backend in _BACKENDS:
        if name.startswith(backend + "."):
            return backend, name[len(backend) + 1 :]
    return "", ""


class _Same(importlib.abc.Loader):
    """Loads a module that has a name already, and leaves it as it is."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.spec: Any = None

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        if _split(spec.name)[1] in _PARTS:
            return _part(spec.name)
        module = importlib.import_module(self.name)
        self.spec = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        # The import system has written the second name's spec over the
        # first's, whose package would then not be the module's own.
        if self.spec is not None:
            module.__spec__ = self.spec


class _Distribution(importlib.metadata.Distribution):
    """What `importlib.metadata` says of a package of KeOps."""

    def __init__(self, name: str) -> None:
        self._name = name

    def read_text(self, filename: str) -> str | None:
        if filename not in {"METADATA", "PKG-INFO"}:
            return None
        return (
            f"Metadata-Version: 2.1\nName: {self._name}\nVersion: {VERSION}\n"
            "Summary: KeOps's interface, on tilefold\n"
        )

    def locate_file(self, path: Any) -> Path:
        return Path(__file__).parent.joinpath(path)


class _Finder(importlib.abc.MetaPathFinder):
    """Finds what is below `pykeops` and `keopscore`."""

    def find_spec(
        self,
        name: str,
        path: Sequence[str] | None = None,
        target: ModuleType | None = None,  # noqa: ARG002
    ) -> importlib.machinery.ModuleSpec | None:
        root, _, rest = name.partition(".")
        if root not in _ROOTS:
            return None
        first = rest.partition(".")[0]
        if first in _PROGRAMS:
            if rest == first:
                path = [str(Path(entry, root)) for entry in sys.path]
            return importlib.machinery.PathFinder.find_spec(name, path)
        part = _split(name)[1]
        if part in _PARTS:
            package = _PARTS[part] is None
        else:
            ours = importlib.util.find_spec(_HOME + name)
            if ours is None:
                return None
            package = ours.submodule_search_locations is not None
        return importlib.machinery.ModuleSpec(
            name, _Same(_HOME + name), is_package=package
        )

    def find_distributions(self, context: Any = None) -> Iterator[Any]:
        asked = getattr(context, "name", None)
        for name in _ROOTS:
            if asked is None or asked.lower() == name:
                yield _Distribution(name)


_FINDER = _Finder()
