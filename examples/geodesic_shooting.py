# examples/geodesic_shooting.py - one shape bent into another (LDDMM).
"""Bends a curve into another by a flow of diffeomorphisms, without folds.

    H(q, p) = ½ Σ_ij exp(-|q_i - q_j|²/2σ²) p_i·p_j
    dq/dt = ∂H/∂p,    dp/dt = -∂H/∂q

The points q of a shape follow a geodesic, which the momenta p at its start
decide (Miller, Trouvé and Younes 2006). Matching shapes is a search for them:
L-BFGS minimises the energy H, which flows keep, and the squared distance of
the points from where they should arrive. Each step of the flow is a gradient
of H; PyTorch differentiates it once more.

Usage: python examples/geodesic_shooting.py
"""

from __future__ import annotations

import torch

import tilefold

HAMILTONIAN = tilefold.compile("sum_ij exp(-|q_i - q_j|²/2σ²) p_i·p_j/2")
FLOW = HAMILTONIAN.grad(["p", "q"])


def shoot(
    q: torch.Tensor, p: torch.Tensor, σ: float, steps: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """Where points q (N, D) with momenta p (N, D) are at t = 1 (Heun)."""
    dt = 1 / steps
    for _ in range(steps):
        dq, dp = FLOW(q=q, p=p, σ=σ, grad=1)
        dq2, dp2 = FLOW(q=q + dt * dq, p=p - dt * dp, σ=σ, grad=1)
        q, p = q + dt / 2 * (dq + dq2), p - dt / 2 * (dp + dp2)
    return q, p


def loss(
    q: torch.Tensor, p: torch.Tensor, target: torch.Tensor, σ: float, steps: int
) -> torch.Tensor:
    """Energy of the flow, and how far from the target it ends, weighted."""
    end, _ = shoot(q, p, σ, steps)
    return HAMILTONIAN(q=q, p=p, σ=σ) + 1000 * ((end - target) ** 2).mean()


def match(
    q: torch.Tensor, target: torch.Tensor, σ: float, steps: int, rounds: int
) -> torch.Tensor:
    """The momenta (N, D) that carry q to the target (N, D)."""
    p = torch.zeros_like(q, requires_grad=True)
    optimiser = torch.optim.LBFGS(
        [p], max_iter=rounds, line_search_fn="strong_wolfe"
    )

    def closure() -> torch.Tensor:
        optimiser.zero_grad()
        value = loss(q, p, target, σ, steps)
        value.backward()
        return value

    optimiser.step(closure)
    return p.detach()


def main() -> None:
    """A circle to a trefoil leaf."""
    angle = 2 * torch.pi * torch.arange(100, dtype=torch.float64) / 100
    circle = torch.stack([angle.cos(), angle.sin()], 1)
    leaf = (1 + 0.4 * (3 * angle).cos())[:, None] * circle + 0.2
    p = match(circle, leaf, σ=0.3, steps=10, rounds=30)
    q, p_end = shoot(circle, p, σ=0.3, steps=10)
    for time, a, b in ((0, circle, p), (1, q, p_end)):
        away = (a - leaf).norm(dim=1).max()
        energy = HAMILTONIAN(q=a, p=b, σ=0.3)
        print(f"time {time}: {away:.3f} away, energy {energy:.4f}")


if __name__ == "__main__":
    main()
