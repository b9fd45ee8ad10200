"""The compiled part of tilefold."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

import numpy
import numpy.typing

from tilefold.array_types import Keyword
from tilefold.result_types import ResultType


version: str

def fail(code: str, *texts: object) -> NoReturn:
    """Raises the error of a row of diagnostics.def."""

class Options:
    """
    Settings of a session, or of one call.

    Passed as ``Session(options)`` or ``options=``. What is left out comes
    from the variable of the environment that is named first, else from the
    default. Picklable, where the progress callback is.

    Parameters
    ----------
    threads : int, optional
        TILEFOLD_NUM_THREADS, else OMP_NUM_THREADS, but no more than
        the cores this process may use.
    cache_directory : str, optional
        TILEFOLD_CACHE_DIR, else tilefold/ in the XDG cache
        directory; may begin with ~; "" keeps kernels in memory only.
    cache_size : int, optional
        TILEFOLD_CACHE_SIZE in bytes, else 1 GiB.
    cache_key_file : str, optional
        TILEFOLD_CACHE_KEY_FILE, else "", none: a file that only
        its owner may read, with a secret of 32 bytes or more. Kernels on disk
        are signed with it then, and one without its signature is compiled
        anew, so that the cache's folder may belong to anybody.
    isa : str, optional
        TILEFOLD_ISA, else the best of this processor;
        "x86-64-v3", "x86-64-v4", "x86-64-v4-vnni",
        "x86-64-v4-bf16", "znver4", "znver5" or "x86-64-v4-amx";
        of another processor, as "aarch64", for ``explain`` alone.
    log : bool, optional
        TILEFOLD_LOG; True writes a line for each compile to stderr.
    plan : str, optional
        Forces the loops; the text that ``explain`` prints.
    tune : bool, optional
        TILEFOLD_TUNE; True times the plans that the cost model likes
        best, once for a formula and dtypes (0.1 s or so, from a million
        pairs on), and keeps the fastest in the cache.
    untrusted : bool, optional
        True limits what a formula that a stranger wrote may
        cost: its length, the time and memory of its compile, the bytes of
        states and of a result. What goes beyond is refused.
    cuda_driver : str, optional
        TILEFOLD_CUDA_DRIVER, else "libcuda.so.1": NVIDIA's
        driver, opened when an array on a GPU is first met.
    nvrtc : str, optional
        TILEFOLD_NVRTC, the path of NVIDIA's compiler; else it is
        looked for: loaded by another library, a Python package, conda's,
        CUDA_HOME's, the system's.
    tolerance : float, optional
        TILEFOLD_TOLERANCE, else 0, which is float32's own rounding:
        the error that products of float32 vectors may have, relative to
        ``|x| |y|`` for an inner product, to ``|x|² + |y|²`` of centred points
        for a squared distance, to its terms for a sum of vectors. A typical
        error: the worst is four times as large. From 2e-7 on a squared
        distance may be ``|x|² + |y|² - 2 x·y``, which is NaN where a coordinate
        is infinite, and on the CPU ``A @ (x - y)`` a difference of products.
        Factors may have 16 bits from 3.2e-6 on (bf16x3), for AMX and a
        GPU's tensor cores to multiply long ones; there, 22 bits from 1e-7
        on (tf32x3), and 8 from 4e-3 on (bf16x1), as in inner products by
        AVX512-BF16. Weights of a softmax of bfloat16 values keep 16 bits
        then, and 8 from 4e-3 on.
        ``explain`` tells which. Without effect on float64.
    devices : str, optional
        TILEFOLD_DEVICES, else "", the CPU: where calls whose arrays
        are in the host's memory are computed; "cuda:0",
        "cuda:0,cuda:1" together, "cuda" for all there are. Arrays go
        there in pieces, while the ones before are computed, and results
        come back: neither has to fit a GPU's memory.
    segment : int, optional
        The CPU joins what a reduction finds of each so many
        points, and of the rest, in an order that depends on nothing else: the
        bits are those of ``Reduction(..., segment=...)``, whatever its parts are.
    device_bytes : int, optional
        TILEFOLD_DEVICE_BYTES, else 256 MiB, of each such GPU.
    progress : callable, optional
        Called as ``progress(done, total)``, in pairs of points, about every
        50 ms of a long run; returning False cancels it.
    stream : object, optional
        Of a GPU, for one call: a stream of PyTorch or CuPy, or its number;
        else the one that is current in the arrays' library.

    Raises
    ------
    ArgumentError
        For a value out of range.
    DeviceError
        For an instruction set that is not known.
    TypeError
        For a value of another type, and for other names.

    See Also
    --------
    Session : what has them for all of its calls.

    Examples
    --------
    >>> options = tilefold.Options(threads=1, log=False)
    >>> options
    tilefold.Options(threads=1, log=False)
    >>> x = np.ones(3, np.float32)
    >>> single = tilefold.Options(tolerance=1e-6)
    >>> tilefold.reduce("sum_j x_i x_j", x=x, options=single)
    array([3., 3., 3.], dtype=float32)
    """

    def __init__(self, *, threads: int | None = None, cache_directory: str | None = None, cache_size: int | None = None, cache_key_file: str | None = None, isa: str | None = None, log: bool | None = None, plan: str | None = None, tune: bool | None = None, untrusted: bool | None = None, cuda_driver: str | None = None, nvrtc: str | None = None, tolerance: float | None = None, devices: str | None = None, segment: int | None = None, device_bytes: int | None = None, progress: Callable[[float, float], object] | None = None, stream: Any = None) -> None: ...

    @property
    def threads(self) -> int | None:
        """The option ``threads`` as it was given: int or None."""

    @property
    def cache_directory(self) -> str | None:
        """The option ``cache_directory`` as it was given: str or None."""

    @property
    def cache_size(self) -> int | None:
        """The option ``cache_size`` as it was given: int or None."""

    @property
    def cache_key_file(self) -> str | None:
        """The option ``cache_key_file`` as it was given: str or None."""

    @property
    def isa(self) -> str | None:
        """The option ``isa`` as it was given: str or None."""

    @property
    def log(self) -> bool | None:
        """The option ``log`` as it was given: bool or None."""

    @property
    def plan(self) -> str | None:
        """The option ``plan`` as it was given: str or None."""

    @property
    def tune(self) -> bool | None:
        """The option ``tune`` as it was given: bool or None."""

    @property
    def untrusted(self) -> bool | None:
        """The option ``untrusted`` as it was given: bool or None."""

    @property
    def cuda_driver(self) -> str | None:
        """The option ``cuda_driver`` as it was given: str or None."""

    @property
    def nvrtc(self) -> str | None:
        """The option ``nvrtc`` as it was given: str or None."""

    @property
    def tolerance(self) -> float | None:
        """The option ``tolerance`` as it was given: float or None."""

    @property
    def devices(self) -> str | None:
        """The option ``devices`` as it was given: str or None."""

    @property
    def segment(self) -> int | None:
        """The option ``segment`` as it was given: int or None."""

    @property
    def device_bytes(self) -> int | None:
        """The option ``device_bytes`` as it was given: int or None."""

    @property
    def progress(self) -> Callable[[float, float], object] | None:
        """The option ``progress`` as it was given: a callable or None."""

    @property
    def stream(self) -> Any:
        """The option ``stream`` as it was given, or None."""

    def __repr__(self) -> str: ...

    def __reduce__(self) -> tuple[Any, ...]: ...

class Statistics:
    """
    Counters of a session, as they were when they were asked for.

    From ``tilefold.stats()`` or ``Session.stats``; they count from when the
    session began.

    See Also
    --------
    stats, Session.stats

    Examples
    --------
    >>> session = tilefold.Session(tilefold.Options(cache_directory=""))
    >>> session.stats().runs
    0
    >>> x = tilefold.reduce("sum_j x_j", x=np.ones(3), session=session)
    >>> session.stats().compiles, session.stats().runs
    (1, 1)
    """

    @property
    def compiles(self) -> int:
        """How many kernels were compiled: an int."""

    @property
    def memory_hits(self) -> int:
        """How many kernels were found in memory: an int."""

    @property
    def disk_hits(self) -> int:
        """How many kernels were read from the cache's folder: an int."""

    @property
    def runs(self) -> int:
        """How many kernels were run: an int."""

    @property
    def tiles_visited(self) -> int:
        """Tiles of pairs met by kernels with index masks: an int."""

    @property
    def tiles_skipped(self) -> int:
        """Tiles that index masks proved to count for nothing: an int."""

    @property
    def compile_milliseconds(self) -> float:
        """The time that all compiles took, in ms: a float."""

    def to_json(self) -> str:
        """Tells the counters as JSON."""

    def __repr__(self) -> str: ...

class CacheEntry:
    """A kernel on disk."""

    @property
    def key(self) -> str: ...

    @property
    def bytes(self) -> int: ...

    @property
    def compiler(self) -> str: ...

    @property
    def isa(self) -> str: ...

    @property
    def summary(self) -> str: ...

    @property
    def fault(self) -> str:
        """What is wrong with it; "" where nothing is."""

def list_cache(options: Options, verify: bool) -> list[CacheEntry]: ...

def clear_cache(options: Options) -> int: ...

class Session:
    """
    Threads, options and compiled kernels that calls share.

    Calls that name no session share one, made when it is first needed. A session
    may be used from several threads. Pickled are its settings: sessions of the
    same settings that a process reads are one.

    Parameters
    ----------
    options : Options, optional
        Its settings; those of the environment, and defaults.

    Raises
    ------
    ArgumentError
        For options that do not fit this machine.

    See Also
    --------
    Options : what a session is set to.
    stats : what a session has done.

    Examples
    --------
    >>> session = tilefold.Session(tilefold.Options(threads=2))
    >>> session.threads
    2
    >>> tilefold.reduce("sum_j x_i x_j", x=np.ones(2), session=session)
    array([2., 2.])
    """

    def __init__(self, options: Options | None = None) -> None: ...

    @property
    def options(self) -> Options:
        """The ``Options`` as resolved: none but a plan is None."""

    @property
    def threads(self) -> int:
        """How many threads its calls take: an int."""

    def _describe_gpus(self) -> list[str]: ...

    def stats(self) -> Statistics:
        """Counts what the session has compiled, found and run."""

    def __reduce__(self) -> tuple[Any, ...]: ...

def stats(session: Session | None = None) -> Statistics:
    """See tilefold.stats."""

def default_session() -> Session: ...

def _get_num_threads() -> int: ...

def _set_num_threads(threads: int) -> None: ...

def _session_with(options: Options) -> Session: ...

def arguments(mapping: Mapping[str, Any] | None, keywords: dict[str, Any]) -> dict[str, Any]:
    """
    Arguments of a call, by the names that formulas have: `λ`, `lambda_` and `lambda` are one.
    """

class Bound:
    """
    A formula with its arrays, that is called without arguments.

    Made by ``Formula.bind``. A call computes from what the arrays hold then, into
    the one array ``out``, which it returns, and what an earlier call gave changes
    with it; of JAX's arrays, which never change, each is a copy. ``out`` has the
    shape and dtype that a call of the formula gives; a result without axes is an
    array of shape (), not a number.

    It keeps its arrays alive. They may be changed in place, but numbers, lists and
    other things that are no arrays are read once, when bound, and so are shapes,
    dtypes and the session. Signals and the progress callback are served as in a
    call of the formula. Threads bind their own. Not picklable.

    Raises
    ------
    ArgumentError
        By a call, for a tensor that ``resize_`` or ``set_`` gave other memory,
        where an array of indices leaves its table, and while another call runs.

    See Also
    --------
    Formula.bind : what makes one.

    Examples
    --------
    >>> x = np.array([0.0, 1.0])
    >>> step = tilefold.compile("sum_j |x_i - x_j|").bind(x=x)
    >>> x += np.array([0.0, 2.0])
    >>> step(), step() is step.out
    (array([3., 3.]), True)
    """

    def __call__(self) -> Any:
        """Computes into ``out``, and returns it."""

    @property
    def out(self) -> Any:
        """The array that calls write to; a tuple of several."""

    @property
    def formula(self) -> Formula:
        """The ``Formula`` that was bound."""

    def __repr__(self) -> str: ...

    def __reduce__(self) -> NoReturn: ...

class PartialCall:
    """
    A formula with arrays that are parts of longer axes, for
    `tilefold.Reduction`: `i` and `j` are the number of the first point and
    how many there are in all, -1 for no more than these. The arguments hold
    options with a segment.
    """

    def __init__(self, formula: Formula, arguments: dict[str, Any], i: tuple[int, int], j: tuple[int, int]) -> None: ...

    @property
    def layout(self) -> dict[str, Any]: ...

    def leave(self, first: int, last: int) -> numpy.typing.NDArray[numpy.float64]:
        """
        The state of these points of the reduced axis, of shape
        (batches, slots, stride).
        """

    def merge(self, into: numpy.typing.NDArray[numpy.float64], later: numpy.typing.NDArray[numpy.float64]) -> None:
        """Joins the state of later points to `into`, in place."""

    def finalise(self, state: numpy.typing.NDArray[numpy.float64]) -> Any:
        """The result, of the state of all points."""

class DeviceArray:
    """
    A result on a GPU, which lends its memory through DLPack.

    What a call of arrays gives that belong to no library with ``from_dlpack``; as
    in ``tensor = torch.from_dlpack(result)``. C-contiguous. Work that wrote it may
    still be queued on its stream; whoever takes it through DLPack waits there by
    itself.

    See Also
    --------
    Formula : whose calls give it.

    Examples
    --------
    >>> hasattr(tilefold.DeviceArray, "__dlpack__")
    True
    """

    @property
    def shape(self) -> tuple[int, ...]:
        """The extents, a tuple of int."""

    @property
    def dtype(self) -> str:
        """The dtype as NumPy names it, such as "float32"."""

    @property
    def device(self) -> str:
        """The device, such as "cuda:0": a str."""

    def __dlpack_device__(self) -> tuple[int, int]: ...

    def __dlpack__(self, *, stream: int | None = None, max_version: tuple[int, int] | None = None, dl_device: tuple[int, int] | None = None, copy: bool | None = None) -> Any: ...

    def __array__(self, *args: Any, **kwargs: Any) -> NoReturn: ...

    def __repr__(self) -> str: ...

def _ffi_handlers() -> dict[tuple[str, str], Any]: ...

class Formula:
    """
    A formula, parsed, that is called with arrays any number of times.

    Made by ``tilefold.compile``. Calls take arrays by the names of the formula, or
    one mapping of them. Thread-safe and picklable.

    Arrays on i or j have shape (N,), (N, D) or (..., N, D), parameters (), (D,),
    (R, C) or (..., R, C), with batch dimensions that broadcast; a batch of numbers
    ends in 1. Results belong to the library of the arrays, NumPy in, NumPy out,
    and have NumPy's promotion of the arrays on i and j, but for those that are
    only subscripts: at least float32, of float16 and bfloat16, too, and so have
    gradients; what counts integers, or adds them up, is int64 or float64.

    Keywords of a call that are no arguments:

    ``out``
        An array for the result, which is returned.
    ``accumulate``
        True adds to ``out``.
    ``session``, ``options``
        Whose threads and kernels it has; ``Options`` of this call.
    ``ranges``
        ``Ranges``: which pairs meet.
    ``sum_batch``
        The batch dimensions over which results are summed.
    ``batch_rank``
        How many first dimensions of every array are a batch's, so that (B, N) is
        a batch of numbers and need not end in 1.

    Parameters
    ----------
    text : str or bytes
        The formula.
    derivation : sequence, optional
        The derivatives that were taken, as pickles hold them.
    session : Session, optional
        Whose threads, options and kernels calls have; the default one.

    Raises
    ------
    FormulaError
        Where the text cannot be read, or reads two ways; with a caret.

    See Also
    --------
    compile, reduce, Bound

    Examples
    --------
    >>> f = tilefold.compile("sum_j exp(-|x_i - y_j|²/2l²) b_j")
    >>> x, y, b = np.zeros((4, 3)), np.zeros((5, 3), np.float32), np.ones(5)
    >>> f(x=x, y=y, b=b, l=0.5)
    array([5., 5., 5., 5.])
    >>> lengths = np.array([1.0, 2.0]).reshape(2, 1, 1)
    >>> f(x=np.stack([x, x]), y=y, b=b, l=lengths).shape
    (2, 4)
    """

    def __call__(self, arguments: Mapping[str, Keyword] = ..., /, **arrays: Keyword) -> Any:
        """The formula of these arrays; keywords as the class says."""

    def __init__(self, text: str | bytes, derivation: Sequence[tuple[int, list[str], str, bool]] = ..., session: Session | None = None) -> None: ...

    def _evaluate(self, arguments: dict[str, Any], query: str, i: Any, j: Any, settings: dict[str, Any]) -> Any: ...

    def _own_sizes(self, arguments: dict[str, Any], settings: dict[str, Any]) -> tuple[list[str], str]: ...

    def _check_call(self, arguments: dict[str, Any], settings: dict[str, Any]) -> None: ...

    def _value_shape(self, arguments: dict[str, Any], settings: dict[str, Any]) -> tuple[tuple[int, ...], int, int, int, str]: ...

    def _result_types(self, arguments: dict[str, Any], settings: dict[str, Any], chosen: bool = False) -> list[tuple[str, int, str, int]]: ...

    def _pairs(self, arguments: dict[str, Any]) -> float: ...

    def _substitute(self, terms: Sequence[tuple[str, Formula, dict[str, str]]]) -> str: ...

    def _select(self, axis: int, renamed: Mapping[str, str], list: str, start: str, step: str, base: str = '', digits: int = 1) -> str: ...

    def _reads_index(self, axis: int) -> bool: ...

    def _applied(self, function: str) -> str: ...

    def _transpose(self) -> str: ...

    def _diagonal(self) -> str: ...

    def _unused_name(self, wish: str = 'b') -> str: ...

    def _axes_of(self, name: str) -> tuple[str, int]: ...

    def _axes_of_result(self, declared: Mapping[str, int]) -> int: ...

    def _with_axes(self, declared: Mapping[str, int]) -> str: ...

    def explain(self, arguments: Mapping[str, Keyword] = ..., /, *, gpu: str = ..., format: str = ..., **arrays: Keyword) -> str:
        """Tells every stage from the reading of the text to the assembly."""

    def plans(self, arguments: Mapping[str, Keyword] = ..., /, **arrays: Keyword) -> list[str]:
        """Lists the plans that ``Options(plan=...)`` may force."""

    def check(self, arguments: Mapping[str, Keyword] = ..., /, *, rows: int = 64, **arrays: Keyword) -> float:
        """Compares a call with one that goes pair by pair in float64."""

    def _program(self, arguments: dict[str, Any], settings: dict[str, Any], chosen: bool = False) -> dict[str, Any]: ...

    @property
    def text(self) -> str:
        """The text as it was given: a str."""

    @property
    def names(self) -> list[tuple[str, int]]:
        """Arguments and their axes: 0 none, 1 i, 2 j, 3 both."""

    def bind(self, arguments: Mapping[str, Keyword] = ..., /, **arrays: Keyword) -> Bound:
        """Binds the formula to its arrays, to be called without arguments."""

    def grad(self, names: str | Sequence[str], *, cotangent: str = 'grad', value: bool = False) -> Formula:
        """Makes the formula of the gradient by one argument, or by several."""

    def jvp(self, names: str | Sequence[str], *, tangent: str = 'tangent') -> Formula:
        """Makes the formula of the derivative where arguments move."""

    def _derive(self, names: Sequence[str], is_gradient: bool) -> tuple[Formula, list[str]]: ...

    @property
    def _results(self) -> list[str]: ...

    @property
    def _seeds(self) -> list[tuple[str, str]]: ...

    @property
    def _is_pair_term(self) -> bool: ...

    def __repr__(self) -> str: ...

    def __reduce__(self) -> tuple[Any, ...]: ...

    def result_types(self, types: Mapping[str, Any], batch: int = 0) -> list[ResultType]:
        """Tells shapes and dtypes of the results, for those of the arguments."""

def explain(formula: str | bytes, arguments: Mapping[str, Any] = ..., /, *, gpu: str = ..., format: str = ..., **arrays: Any) -> str:
    """See tilefold.explain."""

def compile(formula: str | bytes, *, session: Session | None = None) -> Formula:
    """Parses a formula; see tilefold.compile."""

def _kernels(formula: Formula, arguments: dict[str, Any], settings: dict[str, Any], dense: bool = False) -> list[dict[str, Any]]:
    """
    The kernels that a call runs, or that make the formula's pairs dense, and
    how the call is cut for them.
    """

language_version: str

def language() -> list[tuple[str, list[tuple[str, str]]]]:
    """(title, [(spelling, meaning), …]) for each table."""

def natural_spelling(formula: str, aliases: Sequence[str], *, reduction: str = '', axis: int = 1, formula2: str = '', opt_arg: int = 0) -> str:
    """See tilefold.natural_spelling."""

def _tables() -> dict[str, list[dict[str, str]]]:
    """The rows of the compiler's tables, by table and column."""

def named_formulas() -> list[tuple[str, str, str, str, bool]]:
    """
    (name, formula, parameters, meaning, whether it reduces) for each row
    of the catalogue.
    """

def named_distances() -> list[str]:
    """The distances of the catalogue that need nothing but two points."""

def _neighbors(pair: Formula, arguments: dict[str, Any], radius: Any, with_values: bool, settings: dict[str, Any]) -> tuple[Any, Any, Any]: ...

class _Ranges:
    def __init__(self, batch: Sequence[int], tiles: Any, rows: Any, counts: Any, columns: Any) -> None: ...

    def transposed(self) -> _Ranges: ...

    def blocks(self, batch: int) -> list[tuple[int, int, int, int]]: ...

    @property
    def pairs(self) -> float: ...

    def __reduce__(self) -> tuple[Any, ...]: ...

def _solve(product: Formula, pair: Formula, imaginary: Formula | None, arguments: dict[str, Any], side: str, settings: dict[str, Any], options: dict[str, Any]) -> tuple[Any, int, list[float], bool, int, str]: ...

def _log_determinant(product: Formula, pair: Formula, imaginary: Formula | None, arguments: dict[str, Any], side: str, settings: dict[str, Any], options: dict[str, Any]) -> tuple[float, float, int, int, int, list[float] | None, str]: ...

def _name_of(function: object) -> str: ...
