# python_bindings/tilefold/compat/keopscore/utils/__init__.py - small tools.
"""Messages and the properties of GPUs, by KeOps's names."""
