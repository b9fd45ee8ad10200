// tests/cuda/function_slots.cpp - see function_slots.h.

#include "tests/cuda/function_slots.h"

#include "compiler/backends/cuda/plan/choose_plan.h"
#include "compiler/backends/cuda/plan/model.h"
#include "tests/cuda/cases.h"

#include <fstream>
#include <sstream>
#include <string>

namespace tilefold::tests {
namespace {

constexpr PairFunction functions[] = {
    {"exp", "exp(u)", ir::Op::Exp},
    {"exp2", "exp2(u)", ir::Op::Exp2},
    {"expm1", "expm1(u)", ir::Op::Expm1},
    {"log", "log(u)", ir::Op::Log},
    {"log2", "log2(u)", ir::Op::Log2},
    {"log10", "log10(u)", ir::Op::Log10},
    {"log1p", "log1p(u)", ir::Op::Log1p},
    {"sqrt", "sqrt(u)", ir::Op::Sqrt},
    {"rsqrt", "rsqrt(u)", ir::Op::Rsqrt},
    {"pinv", "pinv(u)", ir::Op::Pinv},
    {"quotient", "x_i[0]/u", ir::Op::Div},
    {"remainder", "u mod x_i[0]", ir::Op::Mod},
    {"floor quotient", "u // x_i[0]", ir::Op::FloorDiv},
    {"power", "u^x_i[0]", ir::Op::Pow},
    {"sign", "sign(u - x_i[0])", ir::Op::Sign},
    {"floor", "floor(u)", ir::Op::Floor},
    {"round", "round(u)", ir::Op::Round},
    {"choice", "where(u < x_i[0], u, x_i[1])"},
    {"sin", "sin(u)", ir::Op::Sin},
    {"cos", "cos(u)", ir::Op::Cos},
    {"tan", "tan(u)", ir::Op::Tan},
    {"asin", "asin(u)", ir::Op::Asin},
    {"acos", "acos(u)", ir::Op::Acos},
    {"atan", "atan(u)", ir::Op::Atan},
    {"atan2", "atan2(u, x_i[0])", ir::Op::Atan2},
    {"sinh", "sinh(u)", ir::Op::Sinh},
    {"cosh", "cosh(u)", ir::Op::Cosh},
    {"tanh", "tanh(u)", ir::Op::Tanh},
    {"erf", "erf(u)", ir::Op::Erf},
    {"erfc", "erfc(u)", ir::Op::Erfc},
    {"sigmoid", "sigmoid(u)"},
    {"softplus", "softplus(u)"},
    {"logaddexp", "logaddexp(u, x_i[0])"},
    {"silu", "silu(u)"},
    {"gelu", "gelu(u)"},
    {"asinh", "asinh(u)"},
    {"acosh", "acosh(u)"},
    {"atanh", "atanh(u)"},
    {"hypot", "hypot(u, x_i[0])"},
    {"cbrt", "cbrt(u)"},
    {"erfinv", "erfinv(u)"},
    {"gamma", "gamma(u)", ir::Op::Gamma},
    {"lgamma", "lgamma(u)", ir::Op::Lgamma},
    {"digamma", "digamma(u)"},
    {"Bessel J0", "besselj(0, u)"},
    {"Bessel Y0", "bessely(0, u)"},
};

CudaCase sum_of(std::string_view text, DType dtype) {
    const std::string type = dtype == DType::F32 ? " f32[3]" : " f64[3]";
    return cuda_case("",
                     "sum_j " + std::string(text) + " with u = |x_i - y_j|²",
                     "x" + type + ", y" + type);
}

/// One row a thread and one column a turn: a loop has a pair.
Turn turn_of_sum(std::string_view text, DType dtype, cuda::Nvrtc& nvrtc) {
    const CudaCase sum = sum_of(text, dtype);
    cuda::Plan plan = cuda::choose_plan(sum.graph, 1, 0, true);
    plan.rows_per_thread = plan.columns_unrolled = 1;
    const cuda::Image image = nvrtc.compile(sum.graph, plan, 9, 0);
    // Three differences of coordinates.
    return turn_of(image, "accumulate", dtype == DType::F32 ? "FADD" : "DADD",
                   3);
}

Slots less(const Slots& a, const Slots& b) {
    return {a.issued - b.issued, a.special - b.special, a.wide - b.wide};
}

} // namespace

std::span<const PairFunction> pair_functions() {
    return functions;
}

Turn AddedTurns::of(const PairFunction& function, DType dtype) {
    const auto [place, is_new] = without_.try_emplace(dtype);
    Turn& without = place->second;
    if (is_new)
        without = turn_of_sum("u", dtype, nvrtc_);
    const Turn with = turn_of_sum(function.text, dtype, nvrtc_);
    return {less(with.shortest, without.shortest),
            less(with.longest, without.longest)};
}

double rate_of(const Slots& slots, DType dtype, const cuda::Card& card) {
    const CudaCase sum = sum_of("u", dtype);
    cuda::PairCost cost =
        cuda::cost_of_pair(sum.graph, cuda::choose_plan(sum.graph, 1, 0, true));
    cost.single += slots.issued;
    cost.special += slots.special;
    cost.wide += slots.wide;
    return cost.rate(card, true);
}

std::vector<StoredTurn> stored_turns() {
    std::ifstream file(TILEFOLD_SOURCE_FOLDER "/tests/cuda/function_slots.csv");
    std::vector<StoredTurn> all;
    std::string line;
    std::getline(file, line);
    while (std::getline(file, line)) {
        std::istringstream words(line);
        StoredTurn row;
        char comma = 0;
        std::getline(words, row.function, ',');
        std::getline(words, row.dtype, ',');
        words >> row.least >> comma >> row.longest.issued >> comma >>
            row.longest.special >> comma >> row.longest.wide;
        all.push_back(row);
    }
    return all;
}

} // namespace tilefold::tests
