# tests/python/test_citation.py - a reference to the package names what
# CITATION.cff of the source does.
import re
from pathlib import Path

import pytest

import tilefold

FILE = Path(__file__).parents[2] / "CITATION.cff"


def test_an_entry_for_bibtex():
    entry = tilefold.cite()
    assert entry == tilefold.cite("bibtex")
    fields = dict(re.findall(r"^  (\w+) = \{(.*)\},$", entry, re.MULTILINE))
    assert entry.startswith("@software{tilefold,\n")
    assert entry.endswith("\n}")
    assert entry.count("{") == entry.count("}")
    # Braces keep a name that is not a person's, and small letters.
    assert fields == {
        "author": "{The tilefold authors}",
        "title": "{tilefold: formulas over pairs of points, compiled and "
        "reduced in tiles}",
        "version": tilefold.__version__,
    }


def test_a_sentence():
    assert tilefold.cite("text").endswith(
        f"in tiles [software], version {tilefold.__version__}."
    )


@pytest.mark.checkout
def test_the_file_of_the_source_names_the_same():
    text = FILE.read_text(encoding="utf-8")
    sentence = tilefold.cite("text")
    title = re.search(r'^title: "(.+)"$', text, re.MULTILINE)[1]
    author = re.search(r"^  - name: (.+)$", text, re.MULTILINE)[1]
    assert sentence.startswith(f"{author}. {title} [software]")


def test_another_style_is_refused():
    with pytest.raises(tilefold.ArgumentError, match="'bibtex', 'text'"):
        tilefold.cite("apa")
