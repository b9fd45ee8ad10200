# python_bindings/tilefold/compat/pykeops/common/gpu_utils.py - how many GPUs.
"""The number of GPUs."""

from __future__ import annotations

from tilefold.compat.keopscore.utils.gpu_utils import get_gpu_props

__all__ = ["get_gpu_number"]


def get_gpu_number() -> int:
    """How many GPUs tilefold computes on here."""
    return get_gpu_props()[0]
