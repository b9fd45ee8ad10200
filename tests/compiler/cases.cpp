// tests/compiler/cases.cpp - formulas that many tests go through.

#include "tests/compiler/cases.h"

#include <vector>

namespace tilefold::tests {
namespace {

// clang-format off
/// Formulas of all reductions, as they are called.
constexpr Case reductions[] = {
    {"gaussian", "sum_j exp(-|x_i - y_j|²/2l²) b_j", "x f32[3], y f32[3], b f32, l f64"},
    {"gaussian_wide", "sum_j exp(-|x_i - y_j|²/2l²) b_j", "x f32[3], y f32[3], b f32[2], l f64"},
    {"gaussian_own", "sum_j exp(-|x_i - x_j|²/2l²) b_j", "x f64[2], b f64, l f32"},
    {"gaussian_kept_j", "sum_i exp(-|x_i - y_j|²/2l²) b_i", "x f32[3], y f32[3], b f32, l f64"},
    {"laplace", "sum_j exp(-|x_i - y_j|/l) b_j", "x f32[3], y f32[3], b f32, l f64"},
    {"matern", "sum_j (1 + √3 * |x_i-y_j|/l) * exp(-√3 * |x_i-y_j|/l) * b_j", "x f32[3], y f32[3], b f32, l f64"},
    {"cauchy", "sum_j b_j/(1 + |x_i-y_j|²/l²)", "x f32[3], y f32[3], b f32, l f64"},
    {"energy", "sum_ij exp(-|x_i - x_j|²/2l²) p_i·p_j", "x f64[3], p f64[2], l f64"},
    {"head", "k(x, y) = σ² * exp(-||x - y||² / (2l²))", "x f32[3], y f32[3], l f64, σ f64"},
    {"bare", "exp(-|x-y|²/2l²)", "x f32[3], y f32[3], l f64"},
    {"definitions", "c_i + (sum_j k(x_i,y_j) d_j)/(sum_j k(x_i,y_j)) with k(u,v) = exp(-|u-v|²/2s²)", "x f32[3], y f32[3], c f32, d f32, s f64"},
    {"value_definition", "sum_j exp(-r²) b_j with r = |x_i - y_j|/l", "x f32[3], y f32[3], b f32, l f64"},
    {"attention", "softmax_j(q_i·k_j/√64, v_j)", "q f32[64], k f32[64], v f32[16]"},
    {"causal", "sum_j where(j <= i and |x_i-y_j| < r, q_i·k_j, 0)", "x f32[3], y f32[3], q f32[4], k f32[4], r f64"},
    {"band", "sum_j where(0 <= i - j < w, a_j, 0) * b_i", "a f32, b f32, w i64"},
    {"knn", "argkmin_j(|x_i - y_j|², 3)", "x f32[3], y f32[3]"},
    {"knn_values", "kmin_j(|x_i - y_j|², 3)", "x f32[3], y f32[3]"},
    {"nearest", "argmin_j |x_i - y_j|²", "x f32[3], y f32[3]"},
    {"farthest", "argmax_j |x_i - y_j|²", "x f32[3], y f32[3]"},
    {"logsumexp", "logsumexp_j(g_j - |x_i - y_j|²/2ε)", "x f32[3], y f32[3], g f32, ε f64"},
    {"logsumexp_weighted", "logsumexp_j(-|x_i - y_j|²/2ε, w_j)", "x f32[3], y f32[3], w f32, ε f64"},
    {"sinkhorn", "sum_j exp(g_j - |x_i - y_j|²/2ε)", "x f32[3], y f32[3], g f32, ε f64"},
    {"mean", "mean_j a_i b_j", "a f32, b f32"},
    {"mean_vector", "mean_j (x_i - y_j)", "x f32[3], y f32[3]"},
    {"product", "prod_j (1 + a_i b_j/10)", "a f32, b f32"},
    {"maximum", "max_j x_i·y_j", "x f32[3], y f32[3]"},
    {"minimum_vector", "min_j (x_i * y_j)", "x f32[3], y f32[3]"},
    {"any", "any_j(a_i < b_j)", "a f32, b f32"},
    {"all", "all_j(a_i < b_j)", "a f32, b f32"},
    {"count", "count_j(a_i == b_j)", "a i32, b i64"},
    {"map", "sin(x_i)*1.1 + 2", "x f32"},
    {"map_j", "cos(y_j) + 1", "y f32"},
    {"fold_i", "sum_i sin(x_i)", "x f32"},
    {"fold_j", "max_j |y_j|", "y f32[3]"},
    {"fold_argmax", "argmax_j y_j", "y f32"},
    {"both_mean", "mean_ij x_i·y_j", "x f32[3], y f32[3]"},
    {"both_logsumexp", "logsumexp_ij(x_i·y_j)", "x f32[3], y f32[3]"},
    {"both_argmin", "argmin_ij |x_i - y_j|", "x f32, y f32"},
    {"kept_and_folded", "c_i + sum_j a_j", "c f32, a f32"},
    {"parameter", "exp(-l²)", "l f64"},
};

/// Formulas of what is computed at a pair.
constexpr Case pair_terms[] = {
    {"matrix", "sum_j exp(-|A @ (x_i - y_j)|²) b_j", "A f64[2,3], x f32[3], y f32[3], b f32"},
    {"vector_matrix", "sum_j (x_i @ A)·y_j", "A f64[2,3], x f32[2], y f32[3]"},
    {"network", "sum_j w·tanh(W @ [x_i, y_j] + c)", "w f64[8], W f64[8,6], x f32[3], y f32[3], c f64[8]"},
    {"network_of_layers", "sum_j w·relu(V @ tanh(W @ [x_i, y_j, |x_i - y_j|] + c) + d)", "w f64[7], V f64[7,8], W f64[8,7], x f32[3], y f32[3], c f64[8], d f64[7]"},
    {"network_from_the_left", "mean_j b_j tanh([x_i, y_j] @ W) @ V", "W f64[4,9], V f64[9,2], x f32[2], y f32[2], b f32"},
    {"last_layer", "sum_j (V @ tanh(x_i - y_j) + d_i)", "V f64[4,6], x f32[6], y f32[6], d f32[4]"},
    {"notations", "sum_j [i≠j] x_i^T A x_j b_j*N/(M*D)/|x_i - x_j|", "x f32[3], A f64[3,3], b f32"},
    {"list", "sum_j [a_i, y_j, a_i*b_j]·[1, 2, 3, 4, 5]", "a f32, y f32[3], b f32"},
    {"subscripts", "sum_j (x_i[0] * y_j[-1] + |x_i[1:] - y_j[:2]|²)", "x f32[3], y f32[3]"},
    {"cross", "sum_j cross(x_i, y_j)", "x f32[3], y f32[3]"},
    {"components", "sum_j (sum(x_i*y_j) + max(x_i) * min(y_j))", "x f32[3], y f32[3]"},
    {"per_dimension", "sum_j exp(-|(x_i-y_j)/l|²/2)", "x f32[3], y f32[3], l f64[3]"},
    {"elementary", "sum_j (log(1 + abs(a_i)) + atan2(a_i, b_j) + tanh(b_j) + erf(a_i b_j))", "a f64, b f64"},
    {"rounding", "sum_j (floor(a_i/b_j) + mod(a_i, 3) + round(b_j) * sign(a_i) + ceil(b_j))", "a f64, b f64"},
    {"sugar", "sum_j (relu(a_i) * sigmoid(b_j) + softplus(a_i*b_j) + clamp(a_i, -1, 1))", "a f32, b f32"},
    {"composites", "sum_j (logaddexp(a_i, b_j) + silu(a_i*b_j) + gelu(b_j))", "a f32, b f64"},
    {"powers", "sum_j (a_i^3 * b_j^-2 + abs(a_i)^0.5 + abs(b_j)^p)", "a f32, b f32, p f64"},
    {"constants", "sum_j (exp(-pi*|x_i - y_j|²) + where(a_j, 0, -inf))", "x f32[3], y f32[3], a bool"},
    {"half", "sum_j exp(-|x_i - y_j|²) b_j", "x f16[3], y bf16[3], b f16"},
    {"integers", "sum_j ((a_i - b_j)² + i - j)", "a i16, b i8"},
    {"folded_sum", "fold_j(|x_i - y_j|², 0, add) with add(a, b) = a + b", "x f32[3], y f32[3]"},
    {"welford", "fold_j(a_i b_j, [0, 0, 0], add, join, variance) with add(s, f) = [s[0] + 1, s[1] + (f - s[1])/(s[0] + 1), s[2] + (f - s[1])²*s[0]/(s[0] + 1)], join(s, t) = [s[0] + t[0], (s[0]*s[1] + t[0]*t[1])/max(s[0] + t[0], 1), s[2] + t[2] + (s[1] - t[1])²*s[0]*t[0]/max(s[0] + t[0], 1)], variance(s) = s[2]/s[0]", "a f32, b f32"},
    {"folded_by_parameters", "fold_ij([x_i, y_j]*c, [p, p], larger) with larger(a, b) = where(a·q > b·q, a, where(a·q < b·q, b, max(a, b)))", "x f32, y f32, c f64, p f64, q f64[2]"},
    {"folded_both_ways", "fold_i(y_i, -inf, add, join) + max_i y_i with add(s, f) = max(s, f), join(s, t) = where(flag, max(s, t), max(t, s))", "y f64, flag bool"},
    {"dropout", "sum_j where(rand(s, i, j) < p, x_i·y_j, 0)/p", "x f32[3], y f32[3], p f64, s i64"},
    {"noise", "sum_j (randn(7, n_i, j) + x_j)", "n i64, x f32"},
    {"wide integers", "sum_j where((a_i - b_j) mod 7 == 0, (a_i // 3 - c_j) // -2, -1)", "a i64, b u64, c i32"},
    {"gather", "sum_j (A[r_i, c_j] b_j + v[k_j])", "A f32[5,7], r i32, c i8, b f32, v f64[4], k i64"},
    {"gather rows", "sum_j ((A[r_i]·x_j) A[1, -1] + x_j[k_i])", "A f32[5,3], r i32, x f32[3], k i64"},
    {"onehot", "sum_j onehot(c_j, 4)", "c i32"},
    {"tensors", "sum_j tensordot(x_i, y_j, [2, 3], [3, 1], 1, 0)·kron(x_i[0:2], y_j[0], 2, 1)", "x f32[6], y f32[3]"},
    {"positions", "argmax(x_i) + argmin(x_i)", "x f32[6]"},
    {"splines", "sum_j bspline(t, x_j, 2)", "t f64[6], x f32"},
    {"derivatives at a pair", "sum_j (vjp(x_i*(x_i·y_j), x_i, y_j)·jacobian(x_i·y_j, x_i))", "x f32[3], y f32[3]"},
    {"declared", "sum_j exp(-|u - v|²/2l²) w", "u f32[3] on i, v f32[3] on j, w f32 on j, l f64 as parameter"},
};

constexpr Case simplify_rules[] = {
    {"double negation", "--x_i", "x f64"},
    {"negated difference", "-(x_i - a_i)", "x f64, a f64"},
    {"add a negation", "x_i + -a_i", "x f64, a f64"},
    {"add to a negation", "-x_i + a_i", "x f64, a f64"},
    {"subtract a negation", "x_i - -a_i", "x f64, a f64"},
    {"product of negations", "(-x_i)*(-a_i)", "x f64, a f64"},
    {"quotient of negations", "(-x_i)/(-a_i)", "x f64, a f64"},
    {"product with itself", "x_i*x_i", "x f64"},
    {"first power", "x_i^1", "x f64"},
    {"even power of a negation", "(-x_i)^4", "x f64"},
    {"even power of an absolute value", "|x_i|^4", "x f64"},
    {"square of a norm", "|x_i|²", "x f64[3]"},
    {"square of a scalar's bars", "|x_i|²", "x f64"},
    {"fourth power of a norm", "|x_i|⁴", "x f64[3]"},
    {"square of a root of unknown sign", "(√x_i)²", "x f64"},
    {"square of a root of nothing negative", "(√exp(x_i))²", "x f64"},
    {"power of a power", "(x_i²)³", "x f64"},
    {"root of a square", "√(x_i²)", "x f64"},
    {"absolute value of a square", "|x_i²|", "x f64"},
    {"absolute value of minus a square", "|-(x_i²)|", "x f64"},
    {"absolute value of a negation", "|-x_i|", "x f64"},
    {"logarithm of an exponential", "log(exp(x_i))", "x f64"},
    {"relu of a square", "relu(x_i²)", "x f64"},
    {"maximum of one", "max(x_i, x_i)", "x f64"},
    {"minimum of one", "min(x_i, x_i)", "x f64"},
    {"double not", "where(not not (x_i < 1), 1, x_i)", "x f64"},
    {"and of one", "where(a_i and a_i, 1, x_i)", "x f64, a bool"},
    {"or of one", "where(a_i or a_i, 1, x_i)", "x f64, a bool"},
    {"choice of one", "where(a_i, x_i, x_i)", "x f64, a bool"},
    {"choice of one, on more axes", "where(a_j, x_i, x_i)", "x f64, a bool"},
    {"norm of a negation", "|-x_i|", "x f64[3]"},
    {"whole slice", "x_i[0:3]", "x f64[3]"},
    {"slice of a slice", "x_i[1:3][1]", "x f64[3]"},
    {"slice of a list", "[x_i, a_i][3]", "x f64[3], a f64"},
    {"slice of a list's vector", "[a_i, x_i][1:3]", "x f64[3], a f64"},
    {"slice across a list", "[x_i, a_i][2:4]", "x f64[3], a f64"},
    {"constants fold", "x_i * (pi - pi + pi/pi)", "x f64"},
    {"constants are neutral", "relu(-0*x_i) + (pi - pi) + x_i", "x f64"},
    {"a literal is never looked at", "x_i*1 + 0", "x f64"},
    {"a neutral element that converts", "x_i * (pi/pi)", "x i64"},
};

constexpr Case canonical_rules[] = {
    {"one scale", "sum_j exp(-|x_i-y_j|²/2l²) b_j", "x f32[3], y f32[3], b f32, l f64"},
    {"scale into a sum", "sum_j exp(g_j - |x_i-y_j|²/2ε)", "x f32[3], y f32[3], g f32, ε f64"},
    {"scale into a column", "sum_j exp(-|x_i-y_j|² * w_j)", "x f32[3], y f32[3], w f32"},
    {"nothing absorbs the scale", "sum_j exp(x_i·y_j)", "x f32[3], y f32[3]"},
    {"scale of a scaled sum", "sum_j exp(-(g_j + |x_i-y_j|²)/2ε)", "x f32[3], y f32[3], g f32, ε f64"},
    {"exp of a row stays", "exp(-x_i²/2)", "x f32"},
    {"reciprocal once a call", "max_j (x_i·y_j/l)", "x f32[3], y f32[3], l f64"},
    {"reciprocal once a column", "max_j (x_i·y_j/a_j)", "x f32[3], y f32[3], a f32"},
    {"exact quotient under floor", "max_j floor((a_i - b_j)/l)", "a f32, b f32, l f64"},
    {"exact quotient in a comparison", "count_j((i - j)/49 >= 1 and a_i < b_j)", "a f32, b f32"},
    {"factors by axes", "max_j l a_i x_i·y_j b_j/n", "l f64, a f32, b f32, x f32[3], y f32[3], n f64"},
    {"kept factors leave a sum", "sum_j l a_i exp(x_i·y_j) b_j/n", "l f64, a f32, b f32, x f32[3], y f32[3], n f64"},
    {"kept vector leaves a sum", "sum_j c_i * exp(x_i·y_j)", "c f32[3], x f32[3], y f32[3]"},
    {"kept quotient leaves a mean", "mean_j exp(x_i·y_j)/a_i", "a f32, x f32[3], y f32[3]"},
    {"sign leaves a sum", "sum_j -exp(x_i·y_j)", "x f32[3], y f32[3]"},
    {"nothing leaves a maximum", "max_j a_i x_i·y_j", "a f32, x f32[3], y f32[3]"},
    {"only {} leaves both axes", "sum_ij l a_i b_j", "l f64, a f32, b f32"},
    {"what is kept leaves a column's factor", "sum_j exp(x_i·y_j) (2l b_j/n)", "l f64, b f32, x f32[3], y f32[3], n f64"},
    {"dot with itself", "sum_j exp(-(x_i-y_j)·(x_i-y_j))", "x f32[3], y f32[3]"},
    {"sum of squares", "max_j sum((x_i-y_j)*(x_i-y_j))", "x f32[3], y f32[3]"},
    {"sum of products", "max_j sum(x_i*y_j)", "x f32[3], y f32[3]"},
    {"distance by components", "max_j ((x_i[0]-y_j[0])² + (y_j[1]-x_i[1])² + (x_i[2]-y_j[2])²)", "x f32[3], y f32[3]"},
    {"product by components", "max_j (x_i[0]*y_j[0] + y_j[1]*x_i[1])", "x f32[3], y f32[3]"},
    {"norm by components", "max_j (x_i[0]² + x_i[1]² + y_j)", "x f32[2], y f32"},
    {"other components", "max_j ((x_i[0]-y_j[0])² + (x_i[2]-y_j[2])²)", "x f32[3], y f32[3]"},
    {"scale leaves a norm", "max_j |(x_i-y_j)/l|²", "x f32[3], y f32[3], l f64"},
    {"scale leaves a root", "max_j |(x_i-y_j)/l|", "x f32[3], y f32[3], l f64"},
    {"lengths stay in coordinates", "max_j |(x_i-y_j)/l|²", "x f32[3], y f32[3], l f64[3]"},
    {"scalar leaves a contraction", "sum_j exp(x_i·y_j) p_i·p_j", "x f32[3], y f32[3], p f32[2]"},
    {"operands by axes", "max_j max(y_j + x_i, a + y_j*x_i)", "x f32, y f32, a f64"},
    {"quotient by a root", "sum_j b_j/|x_i-y_j|", "x f32[3], y f32[3], b f32"},
    {"quotient by a power of a root", "sum_j b_j*(y_j-x_i)/(2*|x_i-y_j|^3)", "x f32[3], y f32[3], b f32"},
    {"negative power of a root", "sum_j exp(-|x_i-y_j|)*|x_i-y_j|^-5", "x f32[3], y f32[3]"},
    {"a root on one axis is a factor", "max_j (x_i·y_j/sqrt(a_j))", "x f32[3], y f32[3], a f32"},
    {"an inverse root on one axis stays one", "max_j (x_i·y_j * rsqrt(a_j))", "x f32[3], y f32[3], a f32"},
    {"quotient by a root under floor", "max_j floor(1/|x_i-y_j|)", "x f32[3], y f32[3]"},
    {"scores gather their factors", "softmax_j(x_i·y_j/√3, b_j)", "x f32[3], y f32[3], b f32"},
    {"a scale stays out of exact differences", "max_j exp(-(x_i - y_j)/l)", "x f32, y f32, l f64"},
    {"a scale goes into a sum with one exact term", "max_j exp(g_j - |x_i - y_j|²/2l)", "x f32[3], y f32[3], g f32, l f64"},
    {"roots that divide again and again are no power", "max_j sum((x_i - y_j)/r/r/r) with r = |x_i - y_j|", "x f32[3], y f32[3]"},
    {"a length of one point stays in coordinates", "max_j |(x_i - y_j)/l_j|²", "x f32[3], y f32[3], l f32"},
    {"exact differences of integers", "max_j |x_i - y_j|²", "x i64[3], y i64[3]"},
};
// clang-format on

} // namespace

std::span<const Case> all_cases() {
    static const std::vector<Case> all = [] {
        std::vector<Case> both(std::begin(reductions), std::end(reductions));
        both.insert(both.end(), std::begin(pair_terms), std::end(pair_terms));
        return both;
    }();
    return all;
}
std::span<const Case> simplify_cases() {
    return simplify_rules;
}
std::span<const Case> canonicalise_cases() {
    return canonical_rules;
}

} // namespace tilefold::tests
