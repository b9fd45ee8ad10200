# bench/tasks/kernel_product/task.py - a Gaussian kernel times a vector.
"""K @ b of the same kernels: tilefold computes it without the matrix, the
others make the matrix first."""

from __future__ import annotations

from bench.tasks.kernel_matrix.task import cases

TITLE = "Kernel matrix times a vector"
TABLE = "times"
CONTENDERS_OF = "kernel_matrix"

CASES = cases("kernel_product", product=True)
