# bench/__init__.py - the benchmark as a package.
"""Tasks × contenders, measured by one harness: `python -m bench`."""
