# tests/python/test_interrupt.py - Ctrl-C stops whatever takes long, and the
# end of the interpreter stops it, too.
from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

PROGRAM = """
import os, signal, sys, threading, time
import numpy as np, tilefold
random = np.random.default_rng(0)
x = random.random((1_000_000, 3), np.float32)
sequences = random.random((20, 20))
options = tilefold.Options(cache_directory="")
session = tilefold.Session(options)
{prepare}
sent = []
def interrupt():
    time.sleep({after})
    sent.append(time.perf_counter())
    os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=interrupt).start()
try:
    {work}
except KeyboardInterrupt:
    print(time.perf_counter() - sent[0])
out = tilefold.reduce("sum_j exp(-|x_i - x_j|²)", x=np.zeros((2, 3)))
assert (out == 2).all(), out
"""


def fastest_stop(enough: float, *program: str | float) -> float:
    """The best of three: another program may have the processors."""
    fastest = float("inf")
    for _ in range(3):
        fastest = min(fastest, seconds_to_stop(*program))
        if fastest < enough:
            break
    return fastest


def seconds_to_stop(prepare: str, work: str, after: float = 0.5) -> float:
    """Between the signal and the exception."""
    program = PROGRAM.format(prepare=prepare, work=work, after=after)
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return float(done.stdout)


@pytest.mark.timing
@pytest.mark.parametrize(
    "text", ["sum_j exp(-|x_i - x_j|²)", "argkmin_j(|x_i - x_j|², 8)"]
)
def test_an_interrupt_stops_a_run_within_100_milliseconds(text):
    prepare = f"f = tilefold.compile({text!r}); f(x=x[:100])"
    assert fastest_stop(0.1, prepare, "f(x=x)") < 0.1


COMPILED = "f = tilefold.compile('{}', session=session)"
ALIGNED = COMPILED.format("sum_j softdtw(x_i, x_j, 0.5)")
GAUSSIAN = COMPILED.format("sum_j exp(-|x_i - x_j|²)")
LOOKED_UP = (
    COMPILED.format("sum_j A[c_j]") + "; codes = np.ones(200_000_000, 'f2'); "
    "A = np.ones(3); f(A=A, c=codes[:9])"
)
# A view of one number as 2³⁰: a table of float16 is read before the run.
TABLE = (
    COMPILED.format("sum_j A[c_j]") + "; codes = np.ones(9, 'i4'); "
    "A = np.broadcast_to(np.float16(1), 2**30); f.explain(A=A, c=codes)"
)
KERNEL = (
    "K = tilefold.kernel('exp(-|x_i - x_j|²)', x=x[:40_000].astype('f8'), "
    "session=session); K[:9, :9].solve(np.ones(9), ridge=1)"
)
LONG = {
    "compiling": (ALIGNED, "f(x=sequences)", 0.15),
    "binding": (ALIGNED, "f.bind(x=sequences)", 0.15),
    "explaining": (ALIGNED, "f.explain(x=sequences)", 0.15),
    "checking": (GAUSSIAN, "f.check(x=x[:30_000], rows=10_000)", 0.5),
    "checking sweeps": (
        GAUSSIAN + ".grad('x')",
        "f.check(x=x[:30_000], rows=10_000, grad=1.0)",
        0.5,
    ),
    "running to check": (GAUSSIAN, "f.check(x=x)", 0.5),
    "looking through indices": (LOOKED_UP, "f(A=A, c=codes)", 0.1),
    "preparing a table": (TABLE, "f(A=A, c=codes)", 0.5),
    "preparing a table for threads": (
        TABLE + "; codes = np.ones(10_000_000, 'i4')",
        "f(A=A, c=codes)",
        0.7,
    ),
    "looking again": (
        LOOKED_UP + "; bound = f.bind(A=A, c=codes); bound()",
        "bound()",
        0.1,
    ),
    "solving": (KERNEL, "K.solve(np.ones(40_000), ridge=0.01)", 0.5),
    "searching": (
        "import tilefold",
        "tilefold.radius_neighbors(x, radius=0.001)",
        0.5,
    ),
}


@pytest.mark.timing
@pytest.mark.parametrize("what", LONG)
def test_an_interrupt_stops_everything_long(what):
    assert fastest_stop(0.3, *LONG[what]) < 0.3


def test_indices_that_are_one_number_are_one_look():
    """10⁹ of them, and a table that the number is outside of."""
    import numpy as np

    import tilefold

    f = tilefold.compile("sum_j A[c_j]")
    start = time.perf_counter()
    many = np.broadcast_to(np.int8(7), (1_000_000_000,))
    with pytest.raises(tilefold.ArgumentError, match="'c' holds the index 7"):
        f(A=np.ones(3), c=many)
    assert time.perf_counter() - start < 5  # a compile, on a busy machine


AT_WORK = """
import sys, threading, time
import numpy as np, tilefold
random = np.random.default_rng(0)
x = random.random((300_000, 3), np.float32)
sequences = random.random((20, 20))
session = tilefold.Session(tilefold.Options(cache_directory=""))
f = tilefold.compile("sum_j exp(-|x_i - x_j|²)", session=session)
def work():
    number = 0
    while True:
        number += 1
        {work}
for _ in range(2):
    threading.Thread(target=work, daemon=True).start()
time.sleep({after})
"""

ENDLESS = {
    "small calls": "f(x=x[:50])",
    "long calls": "f(x=x)",
    "calls with a callback": "f(x=x, options=tilefold.Options("
    "progress=lambda done, total: True))",
    "bound calls": "b = f.bind(x=x[:9000]); [b() for _ in range(9)]",
    "a long compile": "tilefold.compile('sum_j softdtw(x_i, x_j, 0.5)', "
    "session=session)(x=sequences)",
    "short compiles": "tilefold.compile(f'sum_j exp(-{number}|x_i - x_j|²)', "
    "session=session)(x=x[:9])",
    "checks": "f.check(x=x[:9000], rows=9000)",
    "searches": "tilefold.radius_neighbors(x[:9000], radius=0.01)",
}


@pytest.mark.parametrize("what", ENDLESS)
def test_a_daemon_thread_at_work_ends_quietly_with_the_interpreter(what):
    program = AT_WORK.format(work=ENDLESS[what], after=0.1)
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def wait_for_work(process: subprocess.Popen, seconds: float) -> None:
    """Until it has used so much of the processors: on a busy machine imports
    alone may take as long."""
    stat = Path(f"/proc/{process.pid}/stat")
    used = 0.0
    while used < seconds and process.poll() is None:
        time.sleep(0.02)
        fields = stat.read_text().rpartition(")")[2].split()
        used = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_the_command_line_exits_with_130(tmp_path):
    import numpy as np

    np.save(tmp_path / "x.npy", np.zeros((2_000_000, 3), np.float32))
    process = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "tilefold",
            "run",
            "sum_j exp(-|x_i - x_j|²)",
            f"x={tmp_path / 'x.npy'}",
        ],
        stderr=subprocess.PIPE,
        text=True,
    )
    wait_for_work(process, seconds=2)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=20)
    assert process.returncode == 130
    assert errors == "tilefold: interrupted\n"


def test_signals_reach_the_tests_of_a_shell_in_the_background():
    """Which lets its children ignore them."""
    program = (
        "import signal, sys\n"
        "sys.path.append('../tools')\n"
        "import conftest\n"
        "handler = signal.getsignal(signal.SIGINT)\n"
        "assert handler is signal.default_int_handler, handler\n"
    )
    subprocess.run(
        ["sh", "-c", 'trap "" INT; exec "$0" -c "$1"', sys.executable, program],
        cwd=Path(__file__).parent,
        check=True,
    )
