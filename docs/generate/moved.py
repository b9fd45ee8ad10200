# docs/generate/moved.py - addresses that lead to pages elsewhere.
"""A page that moves leaves its address here, so that links to it hold."""

#: Addresses, without `.html`, and pages: short ones, and those of pages that
#: have moved.
MOVED = {
    "changelog": "project/changelog.html",
    "errors": "reference/errors/index.html",
    "features": "guide/features.html",
    "install": "start/install.html",
    "language": "reference/language/index.html",
    "tutorial": "start/tutorial.html",
}
