# python_bindings/tilefold/compat/__init__.py - other libraries' interfaces.
"""Stand-ins for other libraries, whose programs run on tilefold unmodified."""
