# bench/gpu/__init__.py - the benchmark of a card: python -m bench --gpu.
"""Times tilefold on a GPU beside others, after checking all."""
