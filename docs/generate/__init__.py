# docs/generate/__init__.py - pages made from the tables of the source.
"""Generators of pages, which read tables and run tilefold without Sphinx."""
