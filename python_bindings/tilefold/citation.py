# python_bindings/tilefold/citation.py - how a work that used tilefold names it.
"""A reference to the installed version, for a list of references."""

from __future__ import annotations

import tilefold
from tilefold.errors import ArgumentError

__all__ = ["cite"]

# As CITATION.cff, which is in no wheel.
AUTHOR = "The tilefold authors"
TITLE = "tilefold: formulas over pairs of points, compiled and reduced in tiles"
BIBTEX = """@software{{tilefold,
  author = {{{{{author}}}}},
  title = {{{{{title}}}}},
  version = {{{version}}},
}}"""
TEXT = "{author}. {title} [software], version {version}."


def cite(style: str = "bibtex") -> str:
    """A reference to this version of tilefold.

    Parameters
    ----------
    style : str, default "bibtex"
        ``"bibtex"``, an entry for BibTeX and biblatex, or ``"text"``, a
        sentence.

    Returns
    -------
    str
        The reference, with the version that is installed.

    Raises
    ------
    ArgumentError
        If the style is another one.

    Examples
    --------
    >>> print(tilefold.cite("text"))  # doctest: +ELLIPSIS
    The tilefold authors. tilefold: formulas over pairs of points, ...
    """
    styles = {"bibtex": BIBTEX, "text": TEXT}
    if style not in styles:
        raise ArgumentError(
            f"there is no style {style!r} of a reference: pass one of "
            + ", ".join(map(repr, styles))
        )
    return styles[style].format(
        author=AUTHOR, title=TITLE, version=tilefold.__version__
    )
