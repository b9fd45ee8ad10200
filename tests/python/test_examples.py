# tests/python/test_examples.py - the programs of examples/ are right.
"""Each at a small size against NumPy, SciPy, scikit-learn or PyTorch."""

from __future__ import annotations

import ast
import re
import runpy
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.optimize
import scipy.spatial
import sklearn.discriminant_analysis
import sklearn.linear_model
import sklearn.neighbors
import torch
from scipy.spatial.distance import cdist
from scipy.special import logsumexp
from scipy.stats import gaussian_kde

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))
from examples import (  # noqa: E402
    adaptive_density,
    alibi_attention,
    code_proximity,
    diffusion_maps,
    gaussian_process,
    geodesic_shooting,
    hausdorff,
    helmholtz,
    kernel_four_ways,
    leave_one_out,
    mahalanobis_neighbours,
    mean_shift,
    n_body,
    radial_distribution,
    stein_descent,
    two_sample_test,
    unbalanced_transport,
)

PICTURES = {"catalogue", "colour_transfer", "local_statistics"}
PICTURES |= {"digits", "exact_gp", "multitask_gp", "plate_modes"}
LONG = {"kernel_four_ways", "scale_out"}
PROGRAMS = sorted(
    path.stem
    for path in (ROOT / "examples").glob("*.py")
    if path.stem not in PICTURES | LONG
)


@pytest.fixture
def random():
    return np.random.default_rng(3)


def gaussian(x, y, l):
    return np.exp(-cdist(x, y, "sqeuclidean") / (2 * l**2))


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_runs_and_prints_numbers(name, capsys):
    path = ROOT / "examples" / f"{name}.py"
    runpy.run_path(str(path), run_name="__main__")
    printed = capsys.readouterr().out
    assert re.search(r"\d", printed)
    assert not re.search(r"\b(nan|inf)\b", printed)


@pytest.mark.parametrize("name", sorted({*PROGRAMS, *PICTURES, *LONG}))
def test_the_table_of_examples_says_what_a_program_does(name):
    readme = (ROOT / "examples" / "README.md").read_text(encoding="utf-8")
    assert f"| [{name}.py]({name}.py) |" in readme
    text = (ROOT / "examples" / f"{name}.py").read_text(encoding="utf-8")
    assert text.startswith(f"# examples/{name}.py - ")
    assert f"\nUsage: python examples/{name}.py" in ast.get_docstring(
        ast.parse(text)
    )


# ---- Gaussian process -------------------------------------------------------


def dense_log_likelihood(x, y, θ):
    """Of a Gaussian process with an ARD Matérn-5/2 kernel, in PyTorch."""
    s, l, noise = θ[0].exp(), θ[1:-1].exp(), θ[-1].exp()
    differences = (x[:, None] - x) / l
    square = (differences**2).sum(-1)
    r = 5**0.5 * torch.where(square > 0, square, 1).sqrt() * (square > 0)
    A = s**2 * (1 + r + r**2 / 3) * (-r).exp()
    A = A + noise**2 * torch.eye(len(x), dtype=x.dtype)
    return torch.distributions.MultivariateNormal(
        torch.zeros(len(x), dtype=x.dtype), A
    ).log_prob(y)


def test_the_likelihood_of_a_process_and_its_gradient(random):
    x, y = random.random((40, 3)), random.standard_normal(40)
    θ = np.array([0.2, -0.5, 0.3, 0.1, -1.0])
    known = torch.tensor(θ, requires_grad=True)
    expected = dense_log_likelihood(torch.tensor(x), torch.tensor(y), known)
    expected.backward()
    every = np.sqrt(40) * np.eye(40)  # probes by which the trace is exact
    found = gaussian_process.likelihood_gradient(x, y, θ, every)
    np.testing.assert_allclose(found, known.grad.numpy(), rtol=1e-5)
    found = gaussian_process.log_likelihood(x, y, θ)
    assert found == pytest.approx(expected.item(), rel=1e-10)


def test_a_process_is_fitted_and_predicts(random):
    x = random.uniform(-1, 1, (60, 2))
    y = np.sin(3 * x[:, 0]) + 0.05 * random.standard_normal(60)
    θ = gaussian_process.fit(x, y, steps=30, probes=8, rate=0.1)
    p = gaussian_process.read(θ)
    assert p.l[1] > 2 * p.l[0]
    before, after = (
        gaussian_process.log_likelihood(x, y, t) for t in (np.zeros(4), θ)
    )
    assert after > before + 10
    r = np.sqrt(5) * cdist(x / p.l, x / p.l)
    K = p.s**2 * (1 + r + r**2 / 3) * np.exp(-r)
    expected = K @ np.linalg.solve(K + p.noise**2 * np.eye(60), y)
    found = gaussian_process.predict(x, y, x, θ)
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_ways_end_where_their_matrices_do_not_fit(capsys):
    kernel_four_ways.main(1e-3, [100, 300])
    _, names, first, second = capsys.readouterr().out.splitlines()
    assert names.endswith("tilefold")
    assert "does not fit" not in first
    assert second.count("does not fit") == 2
    assert first.count("MiB") == 4


# ---- transport --------------------------------------------------------------


def dense_potentials(a, b, cost, ε, ρ):
    f, g = np.zeros(len(a)), np.zeros(len(b))
    for _ in range(2000):
        f = -ρ * ε / (ρ + ε) * logsumexp(np.log(b) + (g - cost) / ε, axis=1)
        g = -ρ * ε / (ρ + ε) * logsumexp(np.log(a) + (f - cost.T) / ε, axis=1)
    return f, g


def relative_entropy(p, q):
    return (p * np.log(p / q) - p + q).sum()


@pytest.mark.parametrize("ρ", [0.05, 2.0])
def test_masses_are_carried_at_the_least_cost(random, ρ):
    x, y, ε = random.random((30, 2)), random.random((40, 2)), 0.05
    a, b = random.random(30) / 30, random.random(40) / 20
    f, g = unbalanced_transport.potentials(a, x, b, y, ε, ρ, tolerance=1e-10)
    cost = cdist(x, y, "sqeuclidean") / 2
    expected = dense_potentials(a, b, cost, ε, ρ)
    np.testing.assert_allclose(f, expected[0], atol=1e-8)
    np.testing.assert_allclose(g, expected[1], atol=1e-8)
    plan = np.outer(a, b) * np.exp((f[:, None] + g - cost) / ε)
    carried = unbalanced_transport.carried_mass(a, x, b, y, f, g, ε)
    np.testing.assert_allclose(carried, plan.sum(1), rtol=1e-10)
    primal = (
        (plan * cost).sum()
        + ε * relative_entropy(plan, np.outer(a, b))
        + ρ * relative_entropy(plan.sum(1), a)
        + ρ * relative_entropy(plan.sum(0), b)
    )
    found = unbalanced_transport.cost(a, b, f, g, ε, ρ)
    assert found == pytest.approx(primal, rel=1e-7)


# ---- statistics -------------------------------------------------------------


def test_neighbours_of_mahalanobis_are_those_of_scikit_learn(random):
    y, labels = mahalanobis_neighbours.measurements(300, random)
    x, _ = mahalanobis_neighbours.measurements(50, random)
    analysis = sklearn.discriminant_analysis.LinearDiscriminantAnalysis(
        solver="lsqr", store_covariance=True
    ).fit(y, labels)
    A = mahalanobis_neighbours.precision_within(y, labels)
    covariance = analysis.covariance_ * 300 / 299
    np.testing.assert_allclose(A @ covariance, np.eye(10), atol=1e-8)
    theirs = sklearn.neighbors.KNeighborsClassifier(
        15, metric="mahalanobis", metric_params={"VI": A}, algorithm="brute"
    ).fit(y, labels)
    distances, nearest = mahalanobis_neighbours.neighbours(x, y, A, 15)
    expected, places = theirs.kneighbors(x)
    np.testing.assert_allclose(distances, expected, rtol=1e-9)
    np.testing.assert_array_equal(nearest, places)
    found = mahalanobis_neighbours.classify(nearest, labels)
    np.testing.assert_array_equal(found, theirs.predict(x))


def test_points_climb_to_the_modes_of_their_density(random):
    y = random.standard_normal((90, 2)) * 0.3
    y[30:60] += [3, 0]
    y[60:] += [0, 4]
    ends, steps = mean_shift.climb(y, 0.5, tolerance=1e-9)
    x = y
    for _ in range(steps):
        weights = gaussian(x, y, 0.5)
        x = weights @ y / weights.sum(1, keepdims=True)
    np.testing.assert_allclose(ends, x, atol=1e-12)
    weights = gaussian(ends, y, 0.5)[..., None]
    uphill = (weights * (y - ends[:, None])).sum(1)
    assert np.abs(uphill).max() < 1e-6
    count, labels = mean_shift.clusters(ends, 0.5)
    assert count == 3
    np.testing.assert_array_equal(labels, np.repeat(labels[::30], 30))


@pytest.mark.parametrize("dimensions", [1, 2])
def test_a_density_has_a_bandwidth_for_each_point(random, dimensions):
    y = np.exp(random.standard_normal((200, dimensions)))
    x = random.random((50, dimensions)) * 4
    h = adaptive_density.adaptive_bandwidths(y, 0.3)
    square, norm = cdist(x, y, "sqeuclidean"), (2 * np.pi) ** (dimensions / 2)
    terms = np.exp(-square / (2 * h**2)) / (norm * h**dimensions)
    found = adaptive_density.adaptive_density(x, y, 0.3)
    np.testing.assert_allclose(found, terms.mean(1), rtol=1e-12)
    pilot = adaptive_density.fixed_density(y, y, 0.3)
    expected = gaussian(y, y, 0.3).mean(1) / (norm * 0.3**dimensions)
    np.testing.assert_allclose(pilot, expected, rtol=1e-12)
    np.testing.assert_allclose(h**2 * pilot / (h**2 * pilot)[0], 1)
    assert np.log(h).mean() == pytest.approx(np.log(0.3))


def test_one_bandwidth_for_all_is_that_of_scipy(random):
    y = random.standard_normal((100, 1))
    theirs = gaussian_kde(y[:, 0], bw_method=0.2 / y.std(ddof=1))
    x = np.linspace(-8, 8, 400)[:, None]
    found = adaptive_density.fixed_density(x, y, 0.2)
    np.testing.assert_allclose(found, theirs(x[:, 0]), rtol=1e-10, atol=1e-300)
    density = adaptive_density.adaptive_density(x, y, 0.2)
    assert np.sum(density) * (x[1, 0] - x[0, 0]) == pytest.approx(1, abs=1e-6)


def test_discrepancies_of_a_batch_are_those_of_each(random):
    x, y = random.random((4, 30, 2)), random.random((4, 20, 2)) + 0.1
    found = two_sample_test.squared_mmd(x, y, 0.4)
    for value, p, q in zip(found, x, y, strict=True):
        within_p, within_q = gaussian(p, p, 0.4), gaussian(q, q, 0.4)
        expected = (
            (within_p.sum() - 30) / (30 * 29)
            + (within_q.sum() - 20) / (20 * 19)
            - 2 * gaussian(p, q, 0.4).mean()
        )
        assert value == pytest.approx(expected, rel=1e-10)


def test_a_shift_is_found_and_chance_is_not(random):
    x, y = random.standard_normal((2, 60, 2))
    _, p = two_sample_test.permutation_test(x, y, 99, random)
    assert p > 0.05
    _, p = two_sample_test.permutation_test(x, y + 1, 99, random)
    assert p == 0.01
    assert two_sample_test.median_distance(x) == np.median(
        scipy.spatial.distance.pdist(x)
    )


def test_particles_move_along_steins_direction(random):
    z, t = random.standard_normal((80, 3)), random.integers(0, 2, 80) * 1.0
    start = random.standard_normal((25, 3))
    x = start
    for _ in range(5):
        score = (t - 1 / (1 + np.exp(-x @ z.T))) @ z - x / 4
        h = np.median(cdist(x, x)) / np.sqrt(2 * np.log(26))
        k = gaussian(x, x, h)
        away = (k[..., None] * (x[:, None] - x)).mean(1) / h**2
        x = x + 0.01 * (k @ score / 25 + away)
    found = stein_descent.descend(start, z, t, prior=2.0, rate=0.01, steps=5)
    np.testing.assert_allclose(found, x, rtol=1e-10)
    mode, _ = stein_descent.laplace(z, t, prior=2.0)
    theirs = sklearn.linear_model.LogisticRegression(
        C=4, fit_intercept=False, tol=1e-10
    ).fit(z, t)
    np.testing.assert_allclose(mode, theirs.coef_[0], rtol=1e-5)


def dense_left_out(x, t, h):
    weights = np.exp(-cdist(x / h, x / h, "sqeuclidean") / 2)
    np.fill_diagonal(weights, 0)
    return np.mean((t - weights @ t / weights.sum(1)) ** 2)


def test_the_error_of_leaving_one_out_and_its_gradient(random):
    x, t = random.random((60, 2)), random.standard_normal(60)
    log_h = np.log([0.2, 0.4])
    error, gradient = leave_one_out.objective(log_h, x, t)
    assert error == pytest.approx(dense_left_out(x, t, np.exp(log_h)))
    expected = scipy.optimize.approx_fprime(
        log_h, lambda log_h: dense_left_out(x, t, np.exp(log_h)), 1e-7
    )
    np.testing.assert_allclose(gradient, expected, atol=1e-6)


def test_bandwidths_are_where_no_other_is_better(random):
    x = random.random((150, 2))
    t = np.sin(5 * x[:, 0]) + 0.1 * random.standard_normal(150)
    h = leave_one_out.best_bandwidths(x, t, np.full(2, 0.2))
    assert h[1] > 5 * h[0]
    best = dense_left_out(x, t, h)
    for factor in (0.8, 0.95, 1.05, 1.25):
        assert dense_left_out(x, t, h * [factor, 1]) > best
    weights = np.exp(-cdist(x / h, x / h, "sqeuclidean") / 2)
    found = leave_one_out.predict(x, x, t, h)
    np.testing.assert_allclose(found, weights @ t / weights.sum(1), rtol=1e-10)


# ---- machine learning -------------------------------------------------------


def test_attention_with_biases_is_pytorchs(random):
    q, k, v = random.standard_normal((3, 2, 8, 40, 16))
    slopes = 2.0 ** -np.arange(1, 9)
    np.testing.assert_allclose(alibi_attention.slopes(8).ravel(), slopes)
    distance = np.subtract.outer(np.arange(40), np.arange(40))
    bias = np.where(distance >= 0, -slopes[:, None, None] * distance, -np.inf)
    expected = torch.nn.functional.scaled_dot_product_attention(
        *(torch.tensor(a) for a in (q, k, v)), attn_mask=torch.tensor(bias)
    )
    found = alibi_attention.attention(q, k, v)
    np.testing.assert_allclose(found, expected.numpy(), rtol=1e-10, atol=1e-12)


def test_similarities_of_codes_are_exact(random):
    codes = random.integers(0, 3, (60, 20)).astype(np.uint16)
    hamming = cdist(codes, codes, "hamming")
    found = code_proximity.similarity(codes, codes).dense()
    np.testing.assert_allclose(found, 1 - hamming, rtol=1e-6)
    np.fill_diagonal(hamming, 2)
    places, values = code_proximity.nearest_other(codes)
    np.testing.assert_array_equal(places, hamming.argmin(1))
    np.testing.assert_allclose(values, 1 - hamming.min(1), rtol=1e-6)


def test_codes_agree_as_often_as_sets_overlap(random):
    words = random.integers(0, 2**31 - 1, 150)
    sets = [words[start : start + 60] for start in (0, 10, 30, 90)]
    codes = code_proximity.minhash(sets, 4000, random)
    found = code_proximity.similarity(codes, codes).dense()
    for i, a in enumerate(sets):
        for j, b in enumerate(sets):
            expected = len({*a} & {*b}) / len({*a} | {*b})
            assert code_proximity.jaccard(a, b) == expected
            assert found[i, j] == pytest.approx(expected, abs=0.03)


# ---- physics ----------------------------------------------------------------


def dense_acceleration(x, m, ε):
    d = x - x[:, None]
    cubes = ((d**2).sum(-1) + ε**2) ** 1.5
    return (m[:, None] * d / cubes[..., None]).sum(1)


def test_stars_leap_as_in_numpy_and_keep_their_energy(random):
    x, v, m = n_body.plummer_sphere(40, random)
    ε, dt = 0.1, 0.02
    start = n_body.energy(x, v, m, ε)
    squares = cdist(x, x, "sqeuclidean") + ε**2
    potential = -(np.triu(np.outer(m, m) / np.sqrt(squares), 1)).sum()
    kinetic = (m * (v**2).sum(1)).sum() / 2
    assert start == pytest.approx(kinetic + potential, rel=1e-12)
    p, w = x.copy(), v.copy()
    for _ in range(50):
        w += dt / 2 * dense_acceleration(p, m, ε)
        p += dt * w
        w += dt / 2 * dense_acceleration(p, m, ε)
    n_body.leapfrog(x, v, m, ε, dt, steps=50)
    np.testing.assert_allclose(x, p, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(v, w, rtol=1e-9, atol=1e-11)
    assert n_body.energy(x, v, m, ε) == pytest.approx(start, rel=1e-3)


def test_two_stars_go_round_in_a_circle():
    ε, turn = 0.1, 2 * np.pi * 1.01**0.75  # of a circle of diameter 1
    x = np.array([[0.5, 0, 0], [-0.5, 0, 0]])
    v = np.array([[0, 0.5, 0], [0, -0.5, 0]]) * 2 * np.pi / turn
    start, steps = x.copy(), 2000
    n_body.leapfrog(x, v, np.full(2, 0.5), ε, turn / steps, steps)
    np.testing.assert_allclose(x, start, atol=1e-5)


def test_a_field_is_a_sum_of_waves(random):
    x, y = random.random((30, 3)), random.random((40, 3)) + np.array([0, 0, 2])
    q = random.standard_normal(40) + 1j * random.standard_normal(40)
    r = cdist(x, y)
    expected = np.exp(3j * r) / (4 * np.pi * r) @ q
    found = helmholtz.field(x, y, q, 3.0)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_the_field_of_a_disc_is_known_on_its_axis():
    y, areas = helmholtz.disc(0.7, rings=20)
    assert areas.sum() == pytest.approx(np.pi * 0.49, rel=1e-12)
    z = np.linspace(0.5, 3, 40)
    axis = np.stack([0 * z, 0 * z, z], 1)
    found = helmholtz.field(axis, y, areas, 6.0)
    np.testing.assert_allclose(
        found, helmholtz.on_axis(z, 0.7, 6.0), rtol=1e-12
    )


def test_pairs_of_a_periodic_box_are_counted_exactly(random):
    length = 3.0
    x = random.uniform(-length, 2 * length, (150, 3))
    counts = radial_distribution.pair_counts(x, length)
    d = x[:, None] - x
    r = np.linalg.norm(d - length * np.round(d / length), axis=-1)
    edges, g = radial_distribution.radial_distribution(x, length)
    expected, _ = np.histogram(r[np.triu_indices(150, 1)], edges)
    np.testing.assert_array_equal(counts, expected)
    tree = scipy.spatial.cKDTree(x % length, boxsize=length)
    within = (tree.count_neighbors(tree, edges[1:]) - 150) / 2
    np.testing.assert_array_equal(np.cumsum(counts), within)
    shells = 4 / 3 * np.pi * (edges[1:] ** 3 - edges[:-1] ** 3)
    density = 150**2 / length**3
    np.testing.assert_allclose(g, 2 * expected / (density * shells))


# ---- geometry ---------------------------------------------------------------


def test_a_diffusion_map_has_the_eigenvectors_of_the_walk(random):
    x = random.random((80, 2))
    W = np.exp(-cdist(x, x, "sqeuclidean") / (4 * 0.05))
    q = W.sum(1)
    W /= np.outer(q, q)
    walk = W / W.sum(1, keepdims=True)
    values, functions = diffusion_maps.diffusion_map(x, 0.05, 4)
    expected = np.sort(np.linalg.eigvals(walk).real)[::-1]
    np.testing.assert_allclose(values, expected[1:5], rtol=1e-9)
    np.testing.assert_allclose(walk @ functions, values * functions, atol=1e-9)


def test_a_circle_is_mapped_to_a_circle():
    angle = 2 * np.pi * np.arange(100) / 100
    circle = np.stack([np.cos(angle), np.sin(angle)], 1)
    values, functions = diffusion_maps.diffusion_map(circle, 0.02, 2)
    assert values[0] == pytest.approx(values[1], rel=1e-9)
    fitted = circle @ np.linalg.lstsq(circle, functions, rcond=None)[0]
    np.testing.assert_allclose(functions, fitted, atol=1e-8)


def dense_hausdorff(x, y):
    return max(
        scipy.spatial.distance.directed_hausdorff(x, y)[0],
        scipy.spatial.distance.directed_hausdorff(y, x)[0],
    )


def moved(x, a, t):
    turned = np.array([[np.cos(a), -np.sin(a)], [np.sin(a), np.cos(a)]])
    return x @ turned.T + t


def test_a_hausdorff_distance_is_scipys_and_has_gradients(random):
    x, y = random.random((50, 2)), random.random((60, 2)) + np.array([0.1, 0.3])
    found = hausdorff.distance(x, y)
    assert found == pytest.approx(dense_hausdorff(x, y), rel=1e-12)
    place = np.array([0.2, 0.1, -0.3])
    found, da, dt = hausdorff.MOVED_GRADIENT(
        x=x, y=y, a=place[0], t=place[1:], grad=1
    )
    expected = scipy.optimize.approx_fprime(
        place, lambda p: dense_hausdorff(moved(x, p[0], p[1:]), y), 1e-7
    )
    np.testing.assert_allclose([da, *dt], expected, atol=1e-6)
    by_point = hausdorff.HAUSDORFF.grad("x")(x=x, y=y, grad=1)
    expected = scipy.optimize.approx_fprime(
        x.ravel(), lambda p: dense_hausdorff(p.reshape(50, 2), y), 1e-7
    )
    np.testing.assert_allclose(by_point.ravel(), expected, atol=1e-6)
    assert np.count_nonzero(by_point.any(1)) == 1


def test_a_cloud_is_laid_on_what_it_was_turned_and_shifted_to(random):
    x = random.random((30, 2))
    y = moved(x, 0.1, [0.05, -0.1])
    a, t, least = hausdorff.align(x, y, steps=300)
    assert least == pytest.approx(dense_hausdorff(moved(x, a, t), y))
    assert least < 0.2 * dense_hausdorff(x, y)


def dense_hamiltonian(q, p, σ):
    squares = ((q[:, None] - q) ** 2).sum(-1)
    return ((-squares / (2 * σ**2)).exp() * (p @ p.T)).sum() / 2


def dense_shoot(q, p, σ, steps):
    def flow(q, p):
        energy = dense_hamiltonian(q, p, σ)
        return torch.autograd.grad(energy, [p, q], create_graph=True)

    dt = 1 / steps
    for _ in range(steps):
        dq, dp = flow(q, p)
        dq2, dp2 = flow(q + dt * dq, p - dt * dp)
        q, p = q + dt / 2 * (dq + dq2), p - dt / 2 * (dp + dp2)
    return q, p


def test_shapes_are_shot_as_in_pytorch_and_so_are_gradients(random):
    q, p, target = (torch.tensor(random.random((20, 2))) for _ in range(3))
    q.requires_grad_()
    p = (p / 10).requires_grad_()
    expected = dense_shoot(q, p, 0.4, 6)
    found = geodesic_shooting.shoot(q, p, 0.4, 6)
    torch.testing.assert_close(found, expected)
    value = (
        dense_hamiltonian(q, p, 0.4)
        + 1000 * ((expected[0] - target) ** 2).mean()
    )
    wanted = torch.autograd.grad(value, [q, p])
    loss = geodesic_shooting.loss(q, p, target, 0.4, 6)
    torch.testing.assert_close(loss, value)
    torch.testing.assert_close(torch.autograd.grad(loss, [q, p]), wanted)


def test_a_shape_is_matched_and_its_energy_stays():
    angle = torch.arange(30, dtype=torch.float64) * 2 * torch.pi / 30
    circle = torch.stack([angle.cos(), angle.sin()], 1)
    target = circle * torch.tensor([1.3, 0.8]) + 0.1
    p = geodesic_shooting.match(circle, target, 0.5, 10, 30)
    end, p_end = geodesic_shooting.shoot(circle, p, 0.5, 10)
    assert (end - target).norm(dim=1).max() < 0.02
    before, after = (
        dense_hamiltonian(*state, 0.5) for state in ((circle, p), (end, p_end))
    )
    assert after.item() == pytest.approx(before.item(), rel=1e-3)
