# python_bindings/tilefold/compat/keopscore/utils/gpu_utils.py - the GPUs.
"""What KeOps knows of GPUs."""

from __future__ import annotations

from tilefold.compat.keopscore.config import cuda_config

__all__ = ["get_gpu_props"]

get_gpu_props = cuda_config.get_gpu_props
