# tests/python/test_torch_transforms.py - torch.func's transforms, forward mode
# and autograd's own vmap, of formulas and of kernels.
from __future__ import annotations

import pytest
import torch
from torch.autograd import forward_ad
from torch.func import grad, hessian, jacfwd, jacrev, jvp, vjp, vmap

import tilefold
from torch_cases import CASES, B, X, Y, assert_same, squares, uniform


class Functions:
    """A formula as a function of its values, and the same in torch."""

    def __init__(self, name):
        case = CASES[name]
        formula, names = tilefold.compile(case.text), list(case.arguments)
        self.values = tuple(case.arguments.values())
        self.every = tuple(range(len(self.values)))
        self.found = lambda *values: formula(
            dict(zip(names, values, strict=True))
        )
        self.expected = case.dense

    def same(self, transform, values=None):
        """The transform of both gives the same."""
        values = self.values if values is None else values
        assert_same(
            transform(self.found)(*values), transform(self.expected)(*values)
        )


def summed(f):
    """A number of a function's results, whose derivatives do not vanish."""
    return lambda *values: f(*values).sin().sum()


def of_gradients(f, every):
    """A number of the gradients of `summed(f)`."""

    def call(*values):
        return sum(g.sin().sum() for g in grad(summed(f), every)(*values))

    return call


@pytest.fixture(params=CASES)
def functions(request):
    return Functions(request.param)


def test_derivatives_of_functions(functions):
    every, values = functions.every, functions.values
    functions.same(lambda f: f)
    functions.same(lambda f: grad(summed(f), every))
    functions.same(lambda f: grad(of_gradients(f, every), every))
    functions.same(lambda f: jacrev(f, every))
    functions.same(lambda f: jacfwd(f, every))
    functions.same(lambda f: hessian(summed(f), every))
    functions.same(lambda f: hessian(f, every))
    cotangent = torch.ones_like(functions.expected(*values))
    functions.same(lambda f: lambda *v: vjp(f, *v)[1](cotangent))


def test_forward_mode_in_functions(functions):
    every, values = functions.every, functions.values
    along = tuple(value.cos() for value in values)

    def moved(f):
        return lambda *v: jvp(f, v, along)[1]

    functions.same(lambda f: lambda *v: jvp(f, v, along))
    functions.same(lambda f: moved(grad(summed(f), every)))
    functions.same(lambda f: grad(moved(summed(f)), every))
    functions.same(lambda f: moved(moved(f)))
    functions.same(lambda f: moved(moved(moved(f))))


def test_dual_numbers(functions):
    values = functions.values

    def dual(f):
        def call(*values):
            with forward_ad.dual_level():
                pairs = [forward_ad.make_dual(v, v.cos()) for v in values]
                return tuple(forward_ad.unpack_dual(f(*pairs)))

        return call

    functions.same(dual, values)


def stacked(value, dim, count=3):
    """Several tensors like one, side by side along a new dimension."""
    return torch.stack([value * (1 + 0.1 * k) for k in range(count)], dim)


def test_vmap_over_each_argument_and_dimension(functions):
    every, values = functions.every, functions.values
    for k in every:
        for dim in range(values[k].dim() + 1):
            batch = list(values)
            batch[k] = stacked(values[k], dim)
            dims = tuple(dim if k == other else None for other in every)
            functions.same(lambda f, dims=dims: vmap(f, dims), batch)
            functions.same(
                lambda f, dims=dims: vmap(grad(summed(f), every), dims), batch
            )
            functions.same(
                lambda f, dims=dims: vmap(hessian(summed(f), every), dims),
                batch,
            )
            functions.same(
                lambda f, dims=dims: hessian(summed(vmap(f, dims)), every),
                batch,
            )


def test_vmap_of_vmap(functions):
    once = tuple(stacked(value, 0) for value in functions.values)
    twice = tuple(stacked(value, 0, 2) for value in once)
    first = (0,) + (None,) * (len(once) - 1)
    others = (None,) + (0,) * (len(once) - 1)
    functions.same(vmap, once)
    functions.same(lambda f: vmap(vmap(f)), twice)
    functions.same(lambda f: vmap(vmap(f, first), others), once)
    functions.same(lambda f: vmap(f, chunk_size=2), once)


def test_autograd_checks_itself(functions):
    values = [value.clone().requires_grad_() for value in functions.values]
    assert torch.autograd.gradcheck(
        functions.found,
        values,
        check_forward_ad=True,
        check_batched_grad=True,
        check_batched_forward_grad=True,
    )
    assert torch.autograd.gradgradcheck(
        functions.found,
        values,
        check_fwd_over_rev=True,
        check_batched_grad=True,
    )


def test_a_function_of_vjp_outlives_its_transform():
    f = tilefold.compile(CASES["no axis"].text)
    _, pull = vjp(lambda x: f(x=x, y=Y), X)
    assert_same(pull(torch.tensor(2.0).double())[0], 2 * grad(f_dense)(X))


def f_dense(x):
    return torch.exp(-squares(x, Y)).sum()


def test_what_has_two_readings_is_refused_under_vmap_as_outside():
    """(2, 2) beside a batch of 2: a number for each point, or 2 points?"""
    f = tilefold.compile("sum_j exp(-|x_i - y_j|²) b_j")
    x, y, b = uniform(2, 4, 3), uniform(2, 2, 3), uniform(2, 2)
    with pytest.raises(tilefold.ShapeError) as outside:
        f(x=x, y=y, b=b)
    with pytest.raises(tilefold.ShapeError) as inside:
        vmap(lambda x: f(x=x, y=y, b=b))(x[None])
    assert str(inside.value) == str(outside.value)
    found = vmap(lambda x: f(x=x, y=y, b=b[..., None]))(x[None])
    assert_same(found[0], f(x=x, y=y, b=b[..., None]))
    said = vmap(lambda x: f(x=x, y=y, b=b, batch_rank=1))(x[None])
    assert_same(said[0], found[0, ..., 0])


# ---- kernels -----------------------------------------------------------------

KERNEL = "exp(-|x_i - y_j|²/2l²)"
OPERATIONS = {
    "dense": (lambda k: k.dense(), lambda k: k),
    "product": (lambda k: k @ B, lambda k: k @ B),
    "transposed": (lambda k: k.T @ B[:4], lambda k: k.mT @ B[:4]),
    "sum": (lambda k: k.sum(1), lambda k: k.sum(1)),
    "maximum": (lambda k: k.max(1), lambda k: k.max(1).values),
    "row": (lambda k: k[1], lambda k: k[1]),
    "column": (lambda k: k[:, 2], lambda k: k[:, 2]),
    "block": (lambda k: k[1:3, :2].dense(), lambda k: k[1:3, :2]),
    "element": (lambda k: k[1, 2], lambda k: k[1, 2]),
    "pairs": (
        lambda k: k[torch.tensor([0, 2]), torch.tensor([1, 1])],
        lambda k: k[torch.tensor([0, 2]), torch.tensor([1, 1])],
    ),
}


class KernelFunctions(Functions):
    """What a kernel is asked, as a function of its arrays."""

    def __init__(self, name):
        ours, theirs = OPERATIONS[name]
        self.values, self.every = (X, Y, uniform() + 0.5), (0, 1, 2)
        self.found = lambda x, y, l: _plain(
            ours(tilefold.kernel(KERNEL, x=x, y=y, l=l))
        )
        self.expected = lambda x, y, l: theirs(
            torch.exp(-squares(x, y) / (2 * l**2))
        )


def _plain(value):
    return value.dense() if isinstance(value, tilefold.Kernel) else value


@pytest.mark.parametrize("name", OPERATIONS)
def test_kernels(name):
    functions = KernelFunctions(name)
    every = functions.every
    functions.same(lambda f: grad(summed(f), every))
    functions.same(lambda f: jacrev(f, every))
    functions.same(lambda f: jacfwd(f, every))
    functions.same(lambda f: hessian(summed(f), every))
    functions.same(lambda f: jacrev(hessian(summed(f)), 0))
    functions.same(lambda f: jacfwd(jacfwd(grad(summed(f)))))
    batch = tuple(stacked(value, 0) for value in functions.values)
    functions.same(vmap, batch)
    functions.same(lambda f: vmap(hessian(summed(f), every)), batch)


@pytest.mark.parametrize("name", OPERATIONS)
def test_kernels_of_leaves(name):
    functions = KernelFunctions(name)
    values = [value.clone().requires_grad_() for value in functions.values]
    assert torch.autograd.gradcheck(
        functions.found, values, check_forward_ad=True
    )
    assert torch.autograd.gradgradcheck(
        functions.found, values, check_fwd_over_rev=True
    )


def test_the_hessian_of_a_gaussian_process_by_its_matrix():
    """Cholesky's factor of K, of third order in all."""
    y = uniform(4)

    def likelihood(dense):
        def of(x, l):
            matrix = dense(x, l) + 0.1 * torch.eye(4, dtype=torch.float64)
            factor = torch.linalg.cholesky(matrix)
            solved = torch.cholesky_solve(y[:, None], factor)[:, 0]
            return y @ solved / 2 + factor.diagonal().log().sum()

        return of

    def ours(x, l):
        return tilefold.kernel(KERNEL, x=x, y=x, l=l).dense()

    def theirs(x, l):
        return torch.exp(-squares(x, x) / (2 * l**2))

    at = (X, torch.tensor(0.7, dtype=torch.float64))
    assert_same(
        hessian(likelihood(ours), (0, 1))(*at),
        hessian(likelihood(theirs), (0, 1))(*at),
        1e-10,
    )


# ---- what is no gradient -----------------------------------------------------


def test_names_without_subscripts_on_the_axes_that_roles_declare():
    def found(x, y, b):
        return tilefold.reduce(
            "sum_j exp(-|u - v|²) w",
            u=tilefold.Vi(x),
            v=tilefold.Vj(y),
            w=tilefold.Vj(b),
        )

    def expected(x, y, b):
        return torch.exp(-squares(x, y)) @ b

    recorded = [a.clone().requires_grad_() for a in (X, Y, B)]
    assert torch.autograd.gradcheck(found, recorded, check_forward_ad=True)
    assert torch.autograd.gradgradcheck(found, recorded)
    every = (0, 1, 2)
    for transform in (grad, hessian):
        derivative = [
            transform(lambda x, y, b, f=f: f(x, y, b).sum(), every)
            for f in (found, expected)
        ]
        assert_same(*(d(X, Y, B) for d in derivative))
    clouds = torch.stack([X, 2 * X])
    assert_same(
        vmap(grad(lambda x: found(x, Y, B).sum()))(clouds),
        vmap(grad(lambda x: expected(x, Y, B).sum()))(clouds),
    )


def test_integers_have_no_derivative():
    f = tilefold.compile("argmin_j |x_i - y_j|²")
    nearest = squares(X, Y).argmin(-1)

    def of(x):
        return x.sum() + f(x=x, y=Y).double().sum()

    assert (vmap(lambda x: f(x=x, y=Y))(X[None])[0] == nearest).all()
    assert_same(grad(of)(X), torch.ones_like(X))
    assert not jvp(lambda x: f(x=x, y=Y), (X,), (X,))[1].any()


def test_complex_numbers_by_torch_s_convention():
    f = tilefold.compile("sum_j exp(im*|x_i - y_j|) z_j")
    z = torch.complex(B, B.sin())
    matrix = torch.exp(1j * squares(X, Y).sqrt())
    along = torch.complex(uniform(4), uniform(4))
    assert_same(
        vjp(lambda z: f(x=X, y=Y, z=z), z)[1](along),
        vjp(lambda z: matrix @ z, z)[1](along),
    )
    assert_same(
        vmap(lambda z: f(x=X, y=Y, z=z))(torch.stack([z, 2 * z])),
        torch.stack([matrix @ z, 2 * (matrix @ z)]),
    )
    leaf = z.clone().requires_grad_()
    assert torch.autograd.gradcheck(lambda z: f(x=X, y=Y, z=z), (leaf,))


def test_lazy_views_are_what_they_stand_for():
    """A conjugate, and a part of it, whose memory is that of the tensor."""
    z = torch.complex(B, B.sin())
    matrix = torch.exp(-squares(X, Y))
    kernel = tilefold.kernel("exp(-|x_i - y_j|²)", x=X, y=Y)
    f = tilefold.compile("sum_j exp(-|x_i - y_j|²) z_j")
    leaf = z.clone().requires_grad_()
    for view in (z.conj(), z.conj().imag, (1j * z).conj().imag):
        want = matrix.to(view.dtype) @ view
        assert_same(f(x=X, y=Y, z=view), want)
        assert_same(kernel @ view, want)
        # It would not change as the tensor does.
        with pytest.raises(tilefold.DTypeError, match="lazy"):
            f.bind(x=X, y=Y, z=view)
    assert_same(
        torch.autograd.grad(f(x=X, y=Y, z=leaf.conj()).abs().sum(), leaf),
        torch.autograd.grad(((matrix + 0j) @ leaf.conj()).abs().sum(), leaf),
    )
    square = tilefold.kernel("exp(-|x_i - x_j|²)", x=Y)
    assert_same(
        square.solve(z.conj(), 0.1, rtol=1e-13),
        square.solve(z, 0.1, rtol=1e-13).conj(),
        1e-10,
    )


def test_what_a_transform_cannot_keep_is_refused():
    f = tilefold.compile(CASES["no axis"].text)
    session = tilefold.Session()
    with pytest.raises(tilefold.ArgumentError, match="session"):
        vmap(lambda x: f(x=x, y=Y, session=session))(X[None])


def test_draws_of_vmap_are_by_their_numbers():
    f = tilefold.compile("sum_j where(rand(s, i, j) < 0.5, x_i·y_j, 0)")
    several = torch.stack([X, 2 * X])
    seed = torch.tensor(7.0, dtype=torch.float64)

    def call(x, s):
        return f(x=x, y=Y, s=s)

    expected = torch.stack([call(x, seed) for x in several])
    for randomness in ("error", "same"):
        found = vmap(call, (0, None), randomness=randomness)(several, seed)
        assert_same(found, expected)
    with pytest.raises(tilefold.ArgumentError, match="map a seed"):
        vmap(call, (0, None), randomness="different")(several, seed)
    seeds = torch.stack([seed, seed + 1])
    assert_same(
        vmap(call)(several, seeds),
        torch.stack([call(*one) for one in zip(several, seeds, strict=True)]),
    )
    plain = tilefold.compile("sum_j x_i·y_j")
    assert_same(
        vmap(lambda x: plain(x=x, y=Y), randomness="different")(several),
        several @ Y.T @ torch.ones(5, dtype=torch.float64),
    )


def test_arrays_and_numbers_beside_tensors_of_a_transform():
    f = tilefold.compile(CASES["number"].text)
    expected = f(x=X, y=Y, b=B, l=0.5)
    for y, b in ((Y.numpy(), B.numpy()), (Y.tolist(), B.tolist())):
        found = vmap(lambda x, y=y, b=b: f(x=x, y=y, b=b, l=0.5))(X[None])
        assert_same(found[0], expected)


def test_labels_in_a_transform():
    f = tilefold.compile("sum_j T[c_j] |x_i - y_j|")
    labels, table = torch.tensor([0, 2, 1, 1, 0]), uniform(3)
    distances = squares(X, Y).sqrt()

    def dense(x, table):
        return (squares(x, Y).sqrt() @ table[labels]).sum()

    assert_same(
        grad(lambda x, t: f(x=x, y=Y, c=labels, T=t).sum(), (0, 1))(X, table),
        grad(dense, (0, 1))(X, table),
    )
    several = torch.stack([labels, labels.flip(0)])
    assert_same(
        vmap(lambda c: f(x=X, y=Y, c=c, T=table))(several),
        torch.stack([distances @ table[c] for c in several]),
    )


def test_no_gradients_inside_of_gradients():
    """What no_grad computes is a constant for levels outside, too."""

    def difference(f):
        def of(x):
            with torch.no_grad():
                constant = f(x)
            return f(x) - constant

        return of

    formula = tilefold.compile(CASES["no axis"].text)
    for times in (1, 2):
        found, expected = (
            difference(lambda x: formula(x=x, y=Y)),
            difference(f_dense),
        )
        for _ in range(times):
            found = grad(lambda x, f=found: f(x).sum())
            expected = grad(lambda x, f=expected: f(x).sum())
        assert_same(found(X), expected(X))


def test_threads_transform_at_once():
    import threading

    formula, errors = tilefold.compile(CASES["no axis"].text), []

    def work(scale):
        try:
            for _ in range(20):
                at = X * scale
                found = grad(lambda x: formula(x=x, y=Y))(at)
                assert_same(found, grad(f_dense)(at))
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(1 + k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
