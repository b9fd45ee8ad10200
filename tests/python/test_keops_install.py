# tests/python/test_keops_install.py - pykeops by its name, in processes apart.
"""What `import pykeops` finds once tilefold has registered itself.

In processes of their own, so that no other test meets modules of that name.
"""

import os
import subprocess
import sys

import pytest

INSTALL = "import tilefold.compat.pykeops as t; t.install()\n"


def run(*arguments, cwd=None, fails=False, **environment):
    """The output of Python with these arguments."""
    done = subprocess.run(
        [sys.executable, *map(str, arguments)],
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
    )
    assert (done.returncode != 0) == fails, done.stdout + done.stderr
    return done.stdout + done.stderr


NAMES = """
import importlib, importlib.metadata, importlib.util, os, sys
import pykeops, keopscore
assert pykeops.__version__ == "2.3" == keopscore.__version__
assert importlib.metadata.version("pykeops") == "2.3"
assert importlib.metadata.version("keopscore") == "2.3"
assert importlib.metadata.metadata("pykeops")["Name"] == "pykeops"
assert importlib.util.find_spec("pykeops") is not None
assert importlib.util.find_spec("pykeops.numpy.utils") is not None
assert importlib.util.find_spec("pykeops.nothing") is None
assert sys.modules["pykeops"] is t
# after a bare import
from_package = pykeops.numpy.Genred, pykeops.numpy.cluster.grid_cluster
assert pykeops.numpy.generic.generic_red.Genred is pykeops.numpy.Genred
from pykeops.numpy.generic.generic_red import Genred
from pykeops.numpy.generic.generic_ops import generic_sum, generic_logsumexp
from pykeops.numpy.generic.generic_ops import generic_argmin, generic_argkmin
from pykeops.numpy.operations import KernelSolve
from pykeops.numpy.lazytensor.LazyTensor import LazyTensor, Vi, Vj, Pm, Var
from pykeops.numpy.lazytensor.LazyTensor import ComplexLazyTensor
from pykeops.numpy.cluster import from_matrix, swap_axes
from pykeops.numpy.utils import numpytools, np_kernel, WarmUpGpu
from pykeops.numpy.test_install import test_numpy_bindings
from pykeops.common.lazy_tensor import (
    ComplexGenericLazyTensor, GenericLazyTensor,
)
from pykeops.common.operations import ConjugateGradientSolver
from pykeops.common.parse_type import get_type
from pykeops.common.get_options import get_tag_backend
from pykeops.common.gpu_utils import get_gpu_number
from pykeops.common.utils import axis2cat, get_tools
assert Genred is from_package[0]
assert issubclass(LazyTensor, GenericLazyTensor)
assert get_tools("numpy") is numpytools
assert LazyTensor is pykeops.numpy.LazyTensor
assert importlib.reload is not None and "torch" not in sys.modules
# settings
import pykeops.config, keopscore.config
from keopscore.config import *
assert pykeops.config.pykeops_cuda is cuda_config
assert isinstance(pykeops.config.gpu_available, bool)
assert pykeops.pykeopsconfig is pykeops.config
assert hasattr(keopscore.config, "config")
keopscore.config.config.use_cuda = False
pykeops.config.precision = "double"
assert pykeops.config.precision == "double"
assert keopscore.show_cuda_status in (False, True)
keopscore.auto_factorize = True
pykeops.set_verbose(False)
assert not pykeops.verbose and not keopscore.verbose
folder = pykeops.get_build_folder()
assert os.path.isdir(folder)
pykeops.set_build_folder(os.path.join(folder, "another"))
assert pykeops.get_build_folder() == os.path.join(folder, "another")
assert os.path.isdir(keopscore.build_folder)
pykeops.set_build_folder()
assert pykeops.get_build_folder() == folder
assert get_gpu_number() == keopscore.utils.gpu_utils.get_gpu_props()[0]
pykeops.clean_pykeops()
from keopscore.utils.misc_utils import KeOps_Error
try:
    KeOps_Error("so it is")
except ValueError as error:
    assert str(error).startswith("[KeOps] Error : so it is (error at line")
for name in ("pykeops.common.keops_io", "keopscore.get_keops_dll"):
    try:
        importlib.import_module(name)
    except ModuleNotFoundError:
        continue
    raise AssertionError(name)
print("by its names", end="")
"""


def test_names_are_found():
    assert run("-c", INSTALL + NAMES).endswith("by its names")


TORCH = """
import pykeops, sys
thin = pykeops.torch.lazytensor.LazyTensor
assert pykeops.torch.LazyTensor is thin.LazyTensor
import pykeops.torch as kt
from pykeops.torch.utils import torchtools, is_on_device, squared_distances
from pykeops.torch.cluster import grid_cluster
from pykeops.torch.generic.generic_red import Genred
from pykeops.common.lazy_tensor import GenericLazyTensor
assert issubclass(kt.LazyTensor, GenericLazyTensor)
assert torchtools.Genred is Genred is kt.Genred
for module in (kt, pykeops.numpy):
    for name in (
        "Genred generic_sum generic_logsumexp generic_argmin generic_argkmin "
        "KernelSolve LazyTensor ComplexLazyTensor Vi Vj Pm"
    ).split():
        assert hasattr(module, name), name
pykeops.test_numpy_bindings()
pykeops.test_torch_bindings()
import multiprocessing
def child(): return kt.__name__
with multiprocessing.get_context("fork").Pool(1) as pool:
    assert pool.apply(child) == "tilefold.compat.pykeops.torch"
t.uninstall()
assert not [name for name in sys.modules if name.startswith("pykeops")]
t.install()
t.install()
import pykeops.torch
assert pykeops.torch is kt
"""


@pytest.mark.checkout
def test_names_of_tensors_are_found():
    out = run("-W", "ignore", "-c", INSTALL + TORCH)
    assert out == (
        "pyKeOps with numpy bindings is working!\n"
        "pyKeOps with torch bindings is working!\n"
    )


def test_messages_are_silenced():
    code = INSTALL + "import pykeops; pykeops.test_numpy_bindings()"
    assert run("-c", code, PYKEOPS_VERBOSE="0") == ""


LOADED = """
import sys, types
sys.modules["pykeops"] = sys.modules["pykeops.old"] = types.ModuleType("real")
import tilefold.compat.pykeops as t
try:
    t.install()
except ImportError as error:
    assert "was imported before" in str(error) and error.name == "pykeops"
else:
    raise AssertionError
t.install(force=True)
import pykeops
assert pykeops is t and "pykeops.old" not in sys.modules
"""


def test_what_was_imported_before_is_not_replaced_silently():
    assert run("-c", LOADED) == ""


PROGRAM = """
import sys, os
import numpy as np
import beside
from pykeops.numpy import LazyTensor
x = LazyTensor(np.ones((3, 1, 2)))
y = LazyTensor(np.zeros((1, 4, 2)))
print(sys.argv[1:], __name__, (x - y).sum(-1).sum(1).ravel().tolist())
"""
PRINTED = "['a', '-b'] __main__ [8.0, 8.0, 8.0]\n"


@pytest.fixture
def program(tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    (tmp_path / "beside.py").write_text("")
    return tmp_path / "program.py"


def test_programs_run(program):
    runner = ["-m", "tilefold.compat.pykeops"]
    assert run(*runner, program, "a", "-b") == PRINTED
    assert run(*runner, "-m", "program", "a", "-b", cwd=program.parent) == (
        PRINTED
    )


def test_what_is_no_program_is_refused(tmp_path):
    runner = ["-m", "tilefold.compat.pykeops"]
    assert "usage:" in run(*runner, fails=True)
    missing = run(*runner, tmp_path / "none.py", fails=True)
    assert "no such program" in missing


CHILDREN = """
import multiprocessing, sys
import numpy as np
{before}
def distances(start):
    import keopscore
    from pykeops.numpy import LazyTensor
    assert keopscore.__name__ == "tilefold.compat.keopscore"
    assert sys.modules["pykeops"].__name__ == "tilefold.compat.pykeops"
    x = LazyTensor(np.full((2, 1, 3), start))
    y = LazyTensor(np.zeros((1, 4, 3)))
    return ((x - y)**2).sum(-1).sum(1).ravel().tolist()
if __name__ == "__main__":
    {inside}
    for method in ("spawn", "forkserver"):
        with multiprocessing.get_context(method).Pool(1) as pool:
            print(method, pool.map(distances, [1.0, 2.0]))
"""
STARTED = "[[12.0, 12.0], [48.0, 48.0]]"


@pytest.mark.parametrize("way", ["runner", "top", "inside"])
def test_processes_that_are_started_find_the_names(tmp_path, way):
    install = "import tilefold.compat.pykeops as t; t.install()"
    before = {"runner": "import pykeops.numpy", "top": install, "inside": ""}
    inside = install if way == "inside" else "pass"
    program = tmp_path / "program.py"
    program.write_text(CHILDREN.format(before=before[way], inside=inside))
    # KeOps itself, which no process may import.
    for name in ("pykeops", "keopscore"):
        (tmp_path / "real" / name).mkdir(parents=True)
        (tmp_path / "real" / name / "__init__.py").write_text("1/0")
    runner = ["-m", "tilefold.compat.pykeops"] if way == "runner" else []
    out = run(*runner, program, PYTHONPATH=tmp_path / "real")
    assert out == f"spawn {STARTED}\nforkserver {STARTED}\n"


LOADER = """
import torch
from pykeops.torch import LazyTensor
class Sums(torch.utils.data.Dataset):
    def __len__(self):
        return 3
    def __getitem__(self, k):
        x = LazyTensor(torch.full((5, 1, 2), float(k)))
        y = LazyTensor(torch.zeros(1, 4, 2))
        return ((x - y) ** 2).sum(-1).sum(1).sum()
if __name__ == "__main__":
    loader = torch.utils.data.DataLoader(
        Sums(), num_workers=1, multiprocessing_context="spawn"
    )
    print([float(each) for each in loader])
"""


@pytest.mark.checkout
def test_workers_of_a_data_loader_find_the_names(tmp_path):
    (tmp_path / "program.py").write_text(LOADER)
    runner = ["-W", "ignore", "-m", "tilefold.compat.pykeops"]
    assert run(*runner, tmp_path / "program.py") == "[0.0, 40.0, 160.0]\n"


PATHS = """
import sys
before = list(sys.path)
import tilefold.compat.pykeops as t
t.install()
assert sys.path[0] == before[0] and len(sys.path) == len(before) + 1
t.install()
assert len(sys.path) == len(before) + 1
t.uninstall()
assert sys.path == before
"""


def test_the_path_is_left_as_it_was():
    assert run("-c", PATHS) == ""


TEST = """
import os, sys
import pytest
from pykeops.numpy import Genred
from pykeops.test.helper import VALUE
import keopscore

def test_of_the_checkout():
    assert VALUE == 7 and __name__ == "pykeops.test.test_it"
    assert Genred.__module__.startswith("tilefold.")
    assert keopscore.__name__ == "tilefold.compat.keopscore"
"""


def test_tests_of_a_checkout_run(tmp_path):
    package = tmp_path / "pykeops"
    (package / "test").mkdir(parents=True)
    # The checkout's own package is not imported.
    (package / "__init__.py").write_text("raise RuntimeError")
    (package / "test" / "__init__.py").write_text("")
    (package / "test" / "helper.py").write_text("VALUE = 7")
    (package / "test" / "test_it.py").write_text(TEST)
    options = ["-q", "-p", "tilefold.compat.pykeops", "--rootdir", tmp_path]
    alone = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    out = run("-m", "pytest", *options, "test", cwd=package, **alone)
    assert "1 passed" in out
