# docs/generate/browse.py - looks at the site in Chromium, and tests it there.
"""Tests a site in a browser, and takes pictures of it.

Usage: python docs/generate/browse.py FOLDER PICTURES

What holds: no request to another host, no message of an error; each picture
loads and has a description; each link within the site leads to a page, and to
a place of it, and so does each address of a page that has moved; headings go
down one level at a time; the search finds names, settings and the text of
errors; no page is wider than a phone, and no text wider than its cell; text
stands out from what is behind it, light and dark. Without JavaScript the text,
tables, pictures and code of each page are there to be seen, and so are the
links that lead from page to page: the search alone needs it. Pictures of some
pages are left in PICTURES: light and dark, on a desk and on a phone.
"""

from __future__ import annotations

import functools
import http.server
import itertools
import shutil
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urldefrag, urljoin

from bs4 import BeautifulSoup
from contrast import too_faint
from moved import MOVED
from playwright.sync_api import Error, sync_playwright

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

#: Pages of which pictures are taken.
LOOKED_AT = (
    "index.html",
    "start/tutorial.html",
    "guide/features.html",
    "reference/language/operations.html",
    "reference/language/reductions.html",
    "reference/errors/products.html",
    "reference/python/kernels.html",
    "reference/environment.html",
    "how/stages.html",
    "performance/history.html",
    "performance/zen5.html",
    "from/scipy_cdist.html",
    "from/numba.html",
    "start/install.html",
    "gallery/index.html",
    "gallery/statistics/plot_airports.html",
)
#: Pages whose code draws a picture.
PICTURED = ("performance/history.html", "start/tutorial.html")
#: What is looked for, and a page that is among the first that are found.
SEARCHED = {
    "logsumexp": "reference/language/reductions.html",
    "TILEFOLD_CACHE_DIR": "reference/environment.html",
    "space in an implicit product": "reference/errors/products.html",
    "argkmin": "reference/language/reductions.html",
    "KernelRidge": "reference/python/sklearn.html",
}
SIZES = {"desk": (1440, 900), "phone": (390, 844)}


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Serves files, and writes no line for each."""

    def log_message(self, *_: Any) -> None:
        """Nothing."""


def main(folder: Path, pictures: Path) -> int:
    """The number of findings, which are printed."""
    pictures.mkdir(parents=True, exist_ok=True)
    handler = functools.partial(Quiet, directory=str(folder))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    root = f"http://127.0.0.1:{server.server_port}/"
    found = in_files(folder)
    with sync_playwright() as play:
        browser = play.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        found += in_browser(browser, root, folder)
        found += moves(browser, root)
        found += searches(browser, root)
        found += take_pictures(browser, root, folder, pictures)
        found += without_scripts(browser, root, folder)
        browser.close()
    server.shutdown()
    for line in found:
        print(line)
    pages = len(list(folder.rglob("*.html")))
    print(f"{pages} pages, {len(found)} findings; pictures in {pictures}")
    return min(len(found), 1)


def in_files(folder: Path) -> list[str]:
    """Links, places, descriptions and headings, as the files have them."""
    soups = {
        path.relative_to(folder).as_posix(): BeautifulSoup(
            path.read_bytes(), "html.parser"
        )
        for path in sorted(folder.rglob("*.html"))
    }
    places = {
        name: {tag["id"] for tag in soup.find_all(id=True)}
        for name, soup in soups.items()
    }
    found = [
        f"{name} has no picture"
        for name in PICTURED
        if name in soups and not soups[name].select("article .cell_output img")
    ]
    for name, soup in soups.items():
        for link in soup.find_all("a", href=True):
            found += wrong_link(folder, places, name, str(link["href"]))
        article = soup.find("article") or soup
        for image in article.find_all("img"):
            # The title of a thumbnail stands beside it, and is not read twice.
            is_thumbnail = image.find_parent(class_="sphx-glr-thumbcontainer")
            if not (is_thumbnail or str(image.get("alt", "")).strip()):
                found.append(f"{name}: {image.get('src')} has no description")
        found += steep_headings(name, article)
    return found


def wrong_link(
    folder: Path, places: dict[str, set[str]], name: str, href: str
) -> list[str]:
    """What is wrong with a link within the site."""
    target, place = urldefrag(urljoin(name, href))
    if ":" in href.partition("/")[0] or href.startswith("//"):
        return []
    target = unquote(target)
    if target.endswith("/"):
        target += "index.html"
    if not (folder / target).is_file():
        return [f"{name}: no page {href}"]
    known = places.get(target)
    if place and known is not None and unquote(place) not in known:
        return [f"{name}: no place {href}"]
    return []


def steep_headings(name: str, article: Any) -> list[str]:
    """Headings that skip a level."""
    levels = [
        int(tag.name[1])
        for tag in article.find_all(["h1", "h2", "h3", "h4", "h5", "h6"])
    ]
    steps = itertools.pairwise(levels)
    if any(after > before + 1 for before, after in steps):
        return [f"{name}: headings skip a level: {levels}"]
    return []


def in_browser(browser: Browser, root: str, folder: Path) -> list[str]:
    """Requests, pictures and widths of every page, on a phone."""
    found: list[str] = []
    width, height = SIZES["phone"]
    page = browser.new_page(viewport={"width": width, "height": height})

    def seen(request: Any) -> None:
        if not request.url.startswith((root, "data:", "blob:")):
            found.append(f"{page.url}: a request to {request.url}")

    page.on("request", seen)
    page.on("pageerror", lambda error: found.append(f"{page.url}: {error}"))
    for path in sorted(folder.rglob("*.html")):
        name = path.relative_to(folder).as_posix()
        if name.removesuffix(".html") in MOVED:
            continue  # see moves()
        page.goto(root + name)
        broken = page.evaluate(
            "[...document.images].filter(i => i.loading != 'lazy' &&"
            " !(i.complete && i.naturalWidth)).map(i => i.src)"
        )
        found += [f"{name}: {source} does not load" for source in broken]
        wide = page.evaluate("document.documentElement.scrollWidth")
        if wide > width:
            found.append(f"{name}: {wide} pixels wide on a phone of {width}")
        cells = page.evaluate(
            "[...document.querySelectorAll('td')].filter(c =>"
            " c.scrollWidth > c.clientWidth + 1).map(c => c.textContent)"
        )
        found += [f"{name}: runs out of its cell: {text}" for text in cells]
    page.close()
    return found


#: What of an article is not seen, but for what a reader opens or points at.
HIDDEN = """
article => [...article.querySelectorAll(
    'h1, h2, h3, p, pre, table, img, li, dt, math')].filter(
        tag => !tag.getClientRects().length && !tag.closest(
            'details:not([open]), .sd-tab-content, .headerlink')
    ).map(tag => tag.tagName + ' ' + tag.textContent.slice(0, 40))
"""
#: Links of the sections and of the pages of a section that are seen.
LINKS = """
() => [...document.querySelectorAll('header a, .bd-sidebar-primary a')].filter(
    link => link.getClientRects().length).map(link => link.href)
"""


def without_scripts(browser: Browser, root: str, folder: Path) -> list[str]:
    """What is not seen of pages where JavaScript is switched off."""
    found: list[str] = []
    width, height = SIZES["desk"]
    context = browser.new_context(
        java_script_enabled=False, viewport={"width": width, "height": height}
    )
    page = context.new_page()
    reached = {f"{root}index.html"}
    for path in sorted(folder.rglob("*.html")):
        name = path.relative_to(folder).as_posix()
        if name.removesuffix(".html") in MOVED or name == "search.html":
            continue
        page.goto(root + name)
        article = page.query_selector("article")
        if article is None:
            continue  # a list of all names, which the theme makes
        title = article.query_selector("h1")
        if not (title and title.inner_text().strip()):
            found.append(f"{name}: no heading without JavaScript")
        if len(article.inner_text()) < 40:
            found.append(f"{name}: no text without JavaScript")
        hidden = article.evaluate(HIDDEN)
        found += [f"{name}: hidden without JavaScript: {tag}" for tag in hidden]
        broken = page.evaluate(
            "[...document.images].filter(i => i.complete && !i.naturalWidth)"
            ".map(i => i.src)"
        )
        found += [f"{name}: {source} needs JavaScript" for source in broken]
        reached |= {urldefrag(link).url for link in page.evaluate(LINKS)}
        links = article.query_selector_all("a.internal")
        reached |= {
            urldefrag(urljoin(page.url, str(link.get_attribute("href")))).url
            for link in links
        }
    context.close()
    for path in sorted(folder.rglob("*.html")):
        name = path.relative_to(folder).as_posix()
        is_made = name.startswith(("gen", "search", "py-modindex", "_"))
        is_page = name.removesuffix(".html") not in MOVED and not is_made
        if is_page and root + name not in reached:
            found.append(f"{name}: no link to it without JavaScript")
    return found


def moves(browser: Browser, root: str) -> list[str]:
    """Addresses of pages that have moved and lead elsewhere."""
    found = []
    page = browser.new_page()
    for name, wanted in MOVED.items():
        page.goto(f"{root}{name}.html", wait_until="commit")
        try:
            page.wait_for_url(root + wanted, timeout=10_000)
        except Error:  # none within the time
            found.append(f"{name}.html leads to {page.url}, not to {wanted}")
    page.close()
    return found


def searches(browser: Browser, root: str) -> list[str]:
    """What the search does not find."""
    found = []
    page = browser.new_page()
    for words, wanted in SEARCHED.items():
        page.goto(f"{root}search.html?q={words}")
        page.wait_for_selector(
            "#search-results .search-summary, #search-results p"
        )
        page.wait_for_timeout(3000)
        links = page.eval_on_selector_all(
            "#search-results li a", "all => all.map(a => a.href)"
        )
        if not any(wanted in link for link in links):
            found.append(f"'{words}' finds no {wanted}, but {links[:5]}")
    page.close()
    return found


def take_pictures(
    browser: Browser, root: str, folder: Path, pictures: Path
) -> list[str]:
    """Pictures of some pages in each size and mode; what is too faint there."""
    found: dict[str, str] = {}  # once each, however many pages have it
    for size, (width, height) in SIZES.items():
        for mode in ("light", "dark"):
            page: Page = browser.new_page(
                viewport={"width": width, "height": height},
                color_scheme=mode,  # type: ignore[arg-type]
            )
            for name in LOOKED_AT:
                if (folder / name).is_file():
                    page.goto(root + name)
                    title = name.removesuffix(".html").replace("/", "-")
                    page.screenshot(
                        path=pictures / f"{title}-{size}-{mode}.png"
                    )
                    for faint in too_faint(page):
                        colours = f"{mode} {faint.partition(',')[0]}"
                        found.setdefault(colours, f"{name}, {mode}: {faint}")
            page.close()
    return list(found.values())


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2])))
