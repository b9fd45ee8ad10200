// tests/numerics/ulp.cpp - float32 kernels against double precision.

#include "tests/numerics/ulp.h"

#include "compiler/build/composites.h"
#include TILEFOLD_CLONES_HEADER // of this architecture
#include "runtime/session/session.h"
#include "tests/numerics/ulp_reference.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <limits>
#include <sstream>
#include <stdexcept>

namespace tilefold::test {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double smallest_normal = std::numeric_limits<float>::min();
/// Doubles of at least this round to infinity.
constexpr double beyond_all = 0x1.ffffffp127;

/// Kernels have no function of their own for what is written with others.
bool is_measured(ir::Op op) {
    const ir::OpRow& row = ir::row_of(op);
    return !is_composite(op) && row.arity == 1 &&
           row.shape == ir::ShapeRule::Elementwise &&
           row.result == ir::ResultRule::Real;
}

Options one_thread(Isa isa) {
    Options options;
    options.threads = 1;
    options.cache_directory = "";
    options.isa = std::string(spelling_of(isa));
    return options;
}

/// 2^n for -1022 <= n <= 1023
double power_of_2(int n) {
    return std::bit_cast<double>(std::uint64_t(n + 1023) << 52);
}

/// Whether some error may exceed `most`; written so that it becomes vector
/// instructions. What is special (an overflow, a result flushed to 0) may.
TILEFOLD_CLONES bool may_exceed(const float* got, const double* wanted,
                                std::size_t count, double most) {
    constexpr std::uint64_t exponent = std::uint64_t(0x7ff) << 52;
    const double steps = most * 0x1p-23, least = steps * smallest_normal;
    int suspects = 0;
    for (std::size_t k = 0; k < count; ++k) {
        const double found = got[k], exact = wanted[k];
        const double size = std::bit_cast<double>(
            std::bit_cast<std::uint64_t>(exact) & exponent);
        const double bound = std::max(steps * size, least);
        const bool near = std::abs(found - exact) <= bound;
        const bool same = found == exact;
        const bool both_nan = (found != found) & (exact != exact);
        suspects += !(near | same | both_nan);
    }
    return suspects > 0;
}

} // namespace

std::vector<Domain> unary_domains() {
    std::vector<Domain> all;
    for (std::size_t k = 0; k < ir::all_op_rows().size(); ++k) {
        const ir::Op op = ir::op_of_row(k);
        if (!is_measured(op))
            continue;
        switch (op) {
        case ir::Op::Sin:
        case ir::Op::Cos:
        case ir::Op::Tan:
            all.push_back({op, -1e4, 1e4, 1});
            all.push_back({op, -infinity, infinity, 64});
            break;
        case ir::Op::Lgamma: // negative inputs: between its poles are zeros
            all.push_back({op, 0, infinity, 1});
            break;
        default:
            all.push_back({op, -infinity, infinity, 1});
        }
    }
    return all;
}

std::vector<Domain> binary_domains() {
    return {{ir::Op::Pow, 0, infinity, 1},
            {ir::Op::Atan2, -infinity, infinity, 1}};
}

double ulps(float got, double wanted) {
    if (std::isnan(wanted))
        return std::isnan(got) ? 0 : infinity;
    if (std::isnan(got))
        return infinity;
    const double size = std::abs(wanted);
    if (size < smallest_normal && got == 0)
        return 0;
    if (std::isinf(got) && size >= beyond_all)
        return std::signbit(got) == std::signbit(wanted) ? 0 : infinity;
    if (std::isinf(wanted))
        return infinity;
    const double found =
        std::isinf(got) ? std::copysign(power_of_2(127) * 2, got) : got;
    const int exponent = int(std::bit_cast<std::uint64_t>(size) >> 52) - 1023;
    return std::abs(found - wanted) * power_of_2(23 - std::max(exponent, -126));
}

void Worst::add(const Worst& other) {
    if (other.ulp > ulp)
        *this = other;
}

struct Measured::Kernel {
    Kernel(ir::Op function, Isa isa)
        : op(function), session(one_thread(isa)), x(block), y(block),
          got(block), wanted(block) {
        const ir::OpRow& row = ir::row_of(op);
        const std::string name(row.spelling);
        const std::string text = row.arity == 1      ? name + "(x_i)"
                                 : op == ir::Op::Pow ? "x_i^y_i"
                                                     : name + "(x_i, y_i)";
        const Extents shape{std::int64_t(block)};
        std::vector<NamedView> arguments{
            {"x", View::of(x.data(), DType::F32, shape)}};
        if (row.arity == 2)
            arguments.push_back({"y", View::of(y.data(), DType::F32, shape)});
        bound.emplace(session.formula(text).bind(arguments));
        out = Output::of(got.data(), DType::F32, shape);
    }

    ir::Op op;
    Session session;
    std::vector<float> x, y, got;
    std::vector<double> wanted;
    std::optional<Bound> bound;
    Output out;
};

Measured::Measured(ir::Op op, Isa isa)
    : kernel_(std::make_unique<Kernel>(op, isa)) {}
Measured::~Measured() = default;

Worst Measured::operator()(std::span<const float> x, std::span<const float> y,
                           const Domain& domain, double most) {
    Kernel& kernel = *kernel_;
    if (x.size() > block)
        throw std::invalid_argument("more inputs than a block");
    std::ranges::copy(x, kernel.x.begin());
    std::ranges::copy(y, kernel.y.begin());
    kernel.bound->run(kernel.out);
    evaluate_in_double(kernel.op, x, y, std::span(kernel.wanted));
    Worst worst{most, 0, 0};
    constexpr std::size_t part = 1024;
    for (std::size_t first = 0; first < x.size(); first += part) {
        const std::size_t count = std::min(part, x.size() - first);
        if (!may_exceed(&kernel.got[first], &kernel.wanted[first], count,
                        worst.ulp))
            continue;
        for (std::size_t k = first; k < first + count; ++k) {
            const bool inside = domain.from <= x[k] && x[k] <= domain.to;
            const double error = ulps(kernel.got[k], kernel.wanted[k]);
            if (inside && error > worst.ulp)
                worst = {error, x[k], y.empty() ? 0 : y[k]};
        }
    }
    return worst;
}

std::vector<Row> read_table() {
    std::ifstream file(TILEFOLD_ULP_TABLE);
    if (!file)
        throw std::runtime_error("missing " TILEFOLD_ULP_TABLE);
    std::vector<Row> rows;
    std::string line;
    std::getline(file, line); // the heading
    while (std::getline(file, line)) {
        std::istringstream cells(line);
        std::vector<std::string> cell(8);
        for (std::string& text : cell)
            std::getline(cells, text, ',');
        rows.push_back({cell[0], cell[1], cell[4], std::stod(cell[2]),
                        std::stod(cell[3]), std::stod(cell[5]),
                        std::strtof(cell[6].c_str(), nullptr),
                        std::strtof(cell[7].c_str(), nullptr)});
    }
    return rows;
}

std::string print(const Row& row) {
    char numbers[120];
    std::snprintf(numbers, sizeof numbers, "%.2f,%a,%a", row.ulp, double(row.x),
                  double(row.y));
    char ends[80];
    std::snprintf(ends, sizeof ends, "%g,%g", row.from, row.to);
    return row.function + "," + row.isa + "," + ends + "," + row.inputs + "," +
           numbers;
}

} // namespace tilefold::test
