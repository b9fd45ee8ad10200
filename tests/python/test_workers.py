# tests/python/test_workers.py - inside the worker processes of torch.
from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import tilefold

torch = pytest.importorskip("torch")


class Sums(torch.utils.data.Dataset):
    """A data set whose items are computed by tilefold."""

    def __init__(self, points: np.ndarray) -> None:
        self.points = points

    def __len__(self) -> int:
        return 16

    def __getitem__(self, item: int) -> torch.Tensor:
        x = torch.from_numpy(self.points + item)
        return tilefold.reduce("sum_j |x_i - x_j|²", x=x)


# Torch advises against more workers than cores; forks with threads are meant.
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning")
@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_four_loader_workers(method):
    points = np.random.default_rng(0).random((600, 3))
    data = Sums(points)
    expected = data[0]  # the parent is warm
    loader = torch.utils.data.DataLoader(
        data, batch_size=4, num_workers=4, multiprocessing_context=method
    )
    batches = list(loader)
    assert [tuple(batch.shape) for batch in batches] == [(4, 600)] * 4
    torch.testing.assert_close(batches[0][0], expected)


RANK = """
import sys
import numpy as np, torch, tilefold
import torch.distributed as dist
rank, rendezvous = int(sys.argv[1]), sys.argv[2]
dist.init_process_group("gloo", init_method="file://" + rendezvous,
                        rank=rank, world_size=2)
x = torch.from_numpy(np.random.default_rng(0).random((500, 3)))
text = "sum_j exp(-|x_i - y_j|²) b_j"
half = slice(250 * rank, 250 * (rank + 1))
part = tilefold.reduce(text, x=x, y=x[half], b=torch.ones(250).double())
dist.all_reduce(part)
whole = tilefold.reduce(text, x=x, y=x, b=torch.ones(500).double())
torch.testing.assert_close(part, whole)
dist.destroy_process_group()
"""


def test_two_processes_of_gloo(tmp_path):
    ranks = [
        subprocess.Popen(
            [sys.executable, "-c", RANK, str(rank), str(tmp_path / "meet")]
        )
        for rank in range(2)
    ]
    assert [rank.wait(timeout=120) for rank in ranks] == [0, 0]
