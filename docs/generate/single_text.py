# docs/generate/single_text.py - the whole site as one text, llms.txt.
"""Writes the text of every page into one file beside the site.

Usage: python docs/generate/single_text.py FOLDER

The file is FOLDER/llms-full.txt, and FOLDER/llms.txt lists the pages.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from bs4 import BeautifulSoup


def main(folder: Path) -> None:
    """Reads the pages of a site in the order of its contents."""
    pages, parts = ordered(folder), []
    lines = [
        "# tilefold",
        "",
        "> Formulas over pairs of points, compiled and reduced in tiles.",
        "",
        "The text of all pages is in llms-full.txt.",
        "",
    ]
    for page in pages:
        soup = BeautifulSoup((folder / page).read_bytes(), "html.parser")
        article = soup.find("article")
        if article is None:
            continue
        for link in article.select("a.headerlink, button, script"):
            link.decompose()
        heading = article.find("h1")
        title = heading.get_text().strip() if heading else page
        lines.append(f"- [{title}]({page})")
        text = re.sub(r"\n\s*\n+", "\n\n", article.get_text().strip())
        parts.append(f"===== {page}\n\n{text}\n")
    (folder / "llms.txt").write_text("\n".join(lines) + "\n", "utf-8")
    (folder / "llms-full.txt").write_text("\n".join(parts), "utf-8")


def ordered(folder: Path) -> list[str]:
    """The pages, as the contents list them, and then what they do not."""
    found = {"index.html": None}
    waiting = ["index.html"]
    while waiting:
        page = waiting.pop(0)
        soup = BeautifulSoup((folder / page).read_bytes(), "html.parser")
        links = soup.select(
            "div.toctree-wrapper a.reference.internal,"
            " .bd-header ul.navbar-nav a.nav-link"
        )
        new = []
        for link in links:
            target = str(link.get("href", "")).partition("#")[0]
            path = (folder / page).parent / target
            name = path.resolve().relative_to(folder.resolve()).as_posix()
            if target and name not in found and (folder / name).is_file():
                found[name] = None
                new.append(name)
        waiting = new + waiting
    return list(found)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
