# python_bindings/tilefold/tracer.py - values of formulas that Python code
# computes with.
"""`Tracer`: a node of a graph that is written down as a formula."""

from __future__ import annotations

import math
import operator
import re
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from tilefold import _core
from tilefold.component_functions import (
    COMPONENT_FUNCTIONS,
    COMPONENT_METHODS,
    TENSOR_METHODS,
    einsum,
)
from tilefold.dialects import of_numpy, of_torch
from tilefold.frameworks import described
from tilefold.functions import (
    BOUNDS,
    CLAMPS,
    FOLDS,
    FUNCTIONS,
    JOINS,
    SETTINGS,
    concatenated,
    refuse_other_keywords,
)
from tilefold.operators import Operators
from tilefold.roles import bare
from tilefold.trace_text import (
    Source,
    free_name,
    nodes_of,
    number_text,
    written,
)
from tilefold.tracer_components import ComponentMethods

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Self

__all__ = ["Tracer"]

# As in formulas/lexer.h.
_LONGEST = 100_000

# A text holds sources as ‹id› and definitions as «number», until all names
# that are taken are known.
_SOURCE = re.compile("‹([0-9]+)›")
_DEFINITION = re.compile("«([0-9]+)»")
# How comparisons and what joins them are written.
_TRUTH = re.compile(
    r"\(\{0\} (<|<=|>|>=|==|!=|and|or) \{[01]\}\)|\(not \{0\}\)"
    r"|\(\(\{0\} != 0\) != \(\{1\} != 0\)\)|\(abs\(real\(.*inf\)"
)


class Tracer(ComponentMethods, Operators):
    """A scalar or a vector of one pair, which Python code computes with.

    It is a node of a graph, and is written down as the text of a formula.
    NumPy's and PyTorch's functions know it through their protocols.

    Parameters
    ----------
    form : str
        How it is written down; ``{0}`` is the first operand. One without any is
        a number, an empty one is its only source.
    operands : sequence of Tracer
        The values that it is made of.
    rank : {0, 1, 2}
        Of a scalar, a vector or a matrix.
    sources : Mapping
        The arguments that it takes, by the id of each.

    See Also
    --------
    Lazy

    Examples
    --------
    >>> x = tilefold.trace.Tracer.parameter(np.zeros(3), "x")
    >>> (2 * x).sum().to_formula()[0]
    'sum((2 * x))'
    """

    __slots__ = {
        "__weakref__": "What weak references keep.",
        "form": "How it is written down; ``{0}`` is the first operand.",
        "operands": "The values that it is made of, a tuple.",
        "rank": "0 for a scalar, 1 for a vector, 2 for a matrix.",
        "sources": "The arguments that it takes, by the id of each.",
    }

    def __init__(
        self,
        form: str,
        operands: Sequence[Tracer],
        rank: int,
        sources: Mapping[int, Source],
    ) -> None:
        self.form: str = form
        self.operands: Sequence[Tracer] = operands
        self.rank: int = rank
        self.sources: Mapping[int, Source] = sources

    @classmethod
    def from_source(cls, source: Source, rank: int) -> Self:
        """Makes the value of an argument of the formula.

        Parameters
        ----------
        source : tilefold.trace.Source
            The array or number, the name wished for, and the axis.
        rank : {0, 1, 2}
            Of one point: a scalar, a vector or a matrix.

        Returns
        -------
        Tracer or Lazy
            The value, of the class that is asked.

        Examples
        --------
        >>> source = tilefold.trace.Source(np.zeros((2, 3)), "x", "i")
        >>> tilefold.Lazy.from_source(source, 1).shape
        (2, 1, 3)
        """
        return cls("", (), rank, {id(source): source})

    @classmethod
    def parameter(cls, value: Any, name: str = "p") -> Self:
        """Makes the value of an argument that is the same for all pairs.

        Parameters
        ----------
        value : array or float
            Shape (), (D,) or (R, C).
        name : str, default "p"
            The name wished for in the formula.

        Returns
        -------
        Tracer or Lazy
            The value, of the class that is asked.

        Examples
        --------
        >>> tilefold.Lazy.parameter(np.zeros(3)).shape
        (1, 1, 3)
        """
        return cls.from_source(Source(value, name), min(np.ndim(value), 2))

    @classmethod
    def literal(cls, number: Any) -> Self:
        """Makes the value of a number that the formula spells out.

        Other numbers are other formulas, and compile anew.

        Parameters
        ----------
        number : float
            A number that needs no more digits than its shortest spelling.

        Returns
        -------
        Tracer or Lazy
            The value, of the class that is asked.

        Raises
        ------
        ValueError, TypeError
            For what is no real number.

        Examples
        --------
        >>> tilefold.Lazy.literal(0.5).to_formula()
        ('0.5', {})
        """
        return cls(number_text(number), (), 0, {})

    @classmethod
    def of(cls, value: Any) -> Any:
        """Makes a traced value of one that meets traced ones in an operation.

        Parameters
        ----------
        value : array, float, bool or sequence
            Numbers are spelled out, arrays of shape (), (D,) or (R, C) and
            complex numbers become parameters, and sequences vectors.

        Returns
        -------
        Tracer
            The value, or itself where it is one.

        Raises
        ------
        ArgumentError
            For what has no value in a formula.

        Examples
        --------
        >>> tilefold.trace.Tracer.of(2).to_formula()
        ('2', {})
        """
        if isinstance(value, cls):
            return value
        if isinstance(value, (bool, np.bool_)):
            return cls("(0 == 0)" if value else "(0 == 1)", (), 0, {})
        if isinstance(value, (int, float, np.integer, np.floating)):
            return cls.literal(value)
        if isinstance(value, (complex, np.complexfloating)):
            return cls.parameter(value)
        if isinstance(value, (list, tuple)):
            return concatenated([cls.of(part) for part in value])
        if np.ndim(value) > 2 or not hasattr(value, "shape"):
            _core.fail("TracedValue", type(value).__name__)
        return cls.parameter(value)

    @classmethod
    def made(cls, form: str, operands: Sequence[Self], rank: int) -> Self:
        """Makes a value of others by the text of a formula.

        Parameters
        ----------
        form : str
            The text; ``{0}`` is the first operand.
        operands : sequence of Tracer
            What the text refers to.
        rank : {0, 1, 2}
            Of the value.

        Returns
        -------
        Tracer
            The value, of the class that is asked.

        Examples
        --------
        >>> two = tilefold.trace.Tracer.literal(2)
        >>> tilefold.trace.Tracer.made("exp({0})", [two], 0).to_formula()[0]
        'exp(2)'
        """
        sources = {
            key: source
            for operand in operands
            for key, source in operand.sources.items()
        }
        return cls(form, tuple(operands), rank, sources)

    def to_formula(
        self,
        given: Mapping[str, Any] | None = None,
        replaced: Mapping[int, Source] | None = None,
    ) -> tuple[str, dict[str, Any]]:
        """Writes the value down as a formula with its arguments.

        Parameters
        ----------
        given : Mapping, optional
            Arguments by name, whose names are not taken again.
        replaced : Mapping, optional
            Sources in the place of those with their keys.

        Returns
        -------
        tuple of str and dict
            The text, and all arguments by name.

        Raises
        ------
        FormulaError
            Where the text would exceed 100,000 characters.

        Examples
        --------
        >>> x = tilefold.lazy(np.array([0.0, 2.0]), axis="i")
        >>> (x * x).to_formula()[0]
        '(x_i * x_i)'
        """
        sources = {**self.sources, **(replaced or {})}
        arguments = dict(given or {})
        names: dict[object, str] = {}

        def source_name(match: re.Match[str]) -> str:
            source = sources[int(match[1])]
            identity = source.identity()
            if identity not in names:
                taken = () if source.given else arguments
                free = free_name(source.name, taken)
                names[identity] = free
                arguments[free] = source.value
            return names[identity] + (source.axis and f"_{source.axis}")

        whole, definitions = written(self)
        texts = [
            _SOURCE.sub(source_name, text) for text in [whole, *definitions]
        ]
        taken = set(arguments)
        terms: list[str] = []
        for _ in definitions:
            terms.append(free_name(f"t{len(terms) + 1}", taken))
            taken.add(terms[-1])
        texts = [
            _DEFINITION.sub(lambda match: terms[int(match[1])], text)
            for text in texts
        ]
        parts = [f"{a} = {b}" for a, b in zip(terms, texts[1:], strict=True)]
        text = texts[0] + (f" with {'; '.join(parts)}" if parts else "")
        if len(text) > _LONGEST:
            _core.fail("FormulaTooLong", len(text), _LONGEST)
        return text, arguments

    def __reduce__(self) -> Any:
        """A list of nodes, since a graph may be deeper than a stack."""
        nodes = nodes_of(self)
        places = {id(node): place for place, node in enumerate(nodes)}
        rows = [
            (
                node.form,
                [places[id(operand)] for operand in node.operands],
                node.rank,
                [] if node.operands else list(node.sources.values()),
            )
            for node in nodes
        ]
        return _copied, (type(self), rows)

    def __repr__(self) -> str:
        """Tells the formula."""
        return f"<traced {self.to_formula()[0]}>"

    @property
    def shape(self) -> tuple[int, ...]:
        """Of one value: () of a scalar, (D,) of a vector: a tuple."""
        if not self.rank:
            return ()
        if not self.operands:
            (source,) = self.sources.values()
            own: tuple[int, ...] = np.shape(bare(source.value))[-self.rank :]
            return own
        text, arguments = self.to_formula()
        found = _core.compile(text)._value_shape(described(arguments), {})
        return (found[3],)

    @property
    def size(self) -> int:
        """How many components there are, 1 of a scalar: an int."""
        return math.prod(self.shape)

    @property
    def T(self) -> Self:  # noqa: N802
        """The value itself: it has one dimension at most."""
        if self.rank > 1:
            _core.fail("TracedFunction", "the transpose of a matrix")
        return self

    @property
    def real(self) -> Self:
        """The real parts."""
        part: Self = self.apply("real", (self,), {})
        return part

    @property
    def imag(self) -> Self:
        """The imaginary parts, 0 of real values."""
        part: Self = self.apply("imag", (self,), {})
        return part

    @property
    def is_truth(self) -> bool:
        """Whether it is a truth value at each pair: a bool.

        A library's sums and products of these are truth values again.
        """
        if self.operands:
            return _TRUTH.fullmatch(self.form) is not None
        values = [bare(source.value) for source in self.sources.values()]
        return any("bool" in str(getattr(v, "dtype", "")) for v in values)

    @property
    def ndim(self) -> int:
        """How many dimensions one value has: 0 for a scalar, 1 for a vector."""
        return self.rank

    @classmethod
    def apply(cls, name: str, args: Any, kwargs: Mapping[str, Any]) -> Any:
        """Does what a function of NumPy, PyTorch or the operators does.

        Parameters
        ----------
        name : str
            The function's name there, such as "exp" or "mul".
        args : sequence
            Its operands.
        kwargs : Mapping
            Its keywords, such as ``axis``.

        Returns
        -------
        Tracer
            The value.

        Raises
        ------
        ArgumentError
            For a function that has no meaning in a formula.

        Examples
        --------
        >>> two = tilefold.trace.Tracer.literal(2)
        >>> tilefold.trace.Tracer.apply("exp", (two,), {}).to_formula()[0]
        'exp(2)'
        """
        if name in COMPONENT_FUNCTIONS:
            first = cls.of(args[0])
            return COMPONENT_FUNCTIONS[name](first, *args[1:], **kwargs)
        refuse_other_keywords(name, kwargs, SETTINGS)
        if name == "einsum":
            return einsum(cls, *args)
        if name in JOINS:
            return cls._joined(name, args[0], kwargs.get("axis"))
        if name in ("shape", "ndim", "size"):
            return getattr(args[0], name)
        if name not in FUNCTIONS:
            _core.fail("TracedFunction", name)
        operands = [
            argument
            if (argument is None and name in (*CLAMPS, "linear"))
            or (name in FOLDS and k > 0)
            else cls.of(argument)
            for k, argument in enumerate(args)
        ]
        named = {
            key: value for key, value in kwargs.items() if key not in BOUNDS
        }
        if name in CLAMPS:
            operands += [None] * (3 - len(operands))
            for key, place in BOUNDS.items():
                if kwargs.get(key) is not None:
                    operands[place] = cls.of(kwargs[key])
            named = {}
        return FUNCTIONS[name](*operands, **named)

    @classmethod
    def _joined(cls, name: str, parts: Sequence[Any], axis: Any) -> Any:
        """Scalars, or the components of vectors, side by side."""
        values = [cls.of(part) for part in parts]
        if axis not in (None, 0, -1) or (
            name == "stack" and any(value.rank for value in values)
        ):
            _core.fail("TracedFunction", f"{name} of components, axis {axis},")
        return concatenated(values)

    def __getattr__(self, name: str) -> Any:
        """Methods such as x.cumsum(): of the components, or of each number."""
        if name not in COMPONENT_METHODS:
            return super().__getattr__(name)

        def called(*args: Any, **kwargs: Any) -> Any:
            is_tensors = name in TENSOR_METHODS or "dim" in kwargs
            read = of_torch if is_tensors else of_numpy
            return self.apply(name, *read(name, (self, *args), kwargs))

        return called

    # ---- what it is not -----------------------------------------------------

    def __array__(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Refuses to be an array: it stands for values of all pairs."""
        _core.fail("TracedArray")

    def __bool__(self) -> NoReturn:
        """Refuses to be one truth value: ``where`` chooses at each pair."""
        _core.fail("TracedTruth")

    def __float__(self) -> NoReturn:
        """Refuses to be one number: it stands for values of all pairs."""
        _core.fail("TracedNumber")

    def __int__(self) -> NoReturn:
        """Refuses to be one number: it stands for values of all pairs."""
        _core.fail("TracedNumber")

    def __index__(self) -> NoReturn:
        """Refuses to be one number: it stands for values of all pairs."""
        _core.fail("TracedNumber")

    def __iter__(self) -> Iterator[Tracer]:
        """Gives the components one by one, as a vector's array does."""
        if self.rank != 1:
            _core.fail("TracedLength")
        return iter([self[k] for k in range(len(self))])

    def __len__(self) -> int:
        """Tells how many components there are."""
        if not self.rank:
            _core.fail("TracedLength")
        return self.shape[0]

    # ---- components ---------------------------------------------------------

    def __getitem__(self, index: Any) -> Tracer:
        """Gives a component, or those from one to another."""
        if index is Ellipsis:
            return self
        if isinstance(index, tuple) and index and index[0] is Ellipsis:
            return self if len(index) == 1 else self[index[1]]
        if self.rank == 2 and not self.operands:
            (source,) = self.sources.values()
            return self.parameter(bare(source.value)[index], source.name)
        if self.rank != 1:
            _core.fail("TracedFunction", "indexing a scalar")
        if isinstance(index, slice):
            if index.step not in (None, 1):
                return self[list(range(*index.indices(len(self))))]
            first = "" if index.start is None else str(int(index.start))
            last = "" if index.stop is None else str(int(index.stop))
            return self.made(f"{{0}}[{first}:{last}]", [self], 1)
        if isinstance(index, list) and index:
            parts = [self[k] for k in index]
            joined: Tracer = type(self)._joined("stack", parts, 0)
            return joined
        if not hasattr(index, "__index__"):
            _core.fail("TracedFunction", f"the index {index!r}")
        return self.made(f"{{0}}[{operator.index(index)}]", [self], 0)


def _copied(
    kind: type[Tracer], rows: Sequence[tuple[str, list[int], int, list[Source]]]
) -> Tracer:
    """A value of the nodes that `__reduce__` lists."""
    nodes: list[Tracer] = []
    for form, places, rank, own in rows:
        operands = tuple(nodes[place] for place in places)
        sources = {id(source): source for source in own}
        for operand in operands:
            sources.update(operand.sources)
        nodes.append(kind(form, operands, rank, sources))
    return nodes[-1]
