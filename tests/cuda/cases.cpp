// tests/cuda/cases.cpp - formulas, rows of the tables, random graphs.

#include "tests/cuda/cases.h"

#include "compiler/build/composites.h"
#include "compiler/passes/passes.h"
#include "tests/compiler/cases.h"
#include "tests/compiler/random_graph.h"
#include "tests/compiler/support.h"

#include <algorithm>

namespace tilefold::tests {
namespace {

using ir::Op;
using ir::ValueId;

CudaCase canonical(std::string name, const ir::Graph& graph) {
    const ir::Oriented oriented =
        ir::orient(ir::simplify(lower_composites(graph)));
    return {std::move(name),
            ir::canonicalise(oriented.graph),
            2,
            0,
            oriented.single_column,
            oriented.single_row};
}

/// A term of one operation, its operands on i, j and i again.
class RowCase {
public:
    RowCase(Op op, DType real) : op_(op), real_(real), builder_(real) {}

    CudaCase run() {
        std::vector<ValueId> operands;
        for (int k = 0; k < row_of(op_).arity; ++k)
            operands.push_back(operand(k));
        ValueId term = builder_.apply(op_, operands);
        if (builder_.type(term).axes != Axes::IJ)
            term = builder_.apply(Op::Mul, {term, argument("w", 0, Axes::IJ)});
        const ValueId sum =
            builder_.reduce(ir::Reduction::Sum, Axes::J, std::span(&term, 1));
        CudaCase made = canonical(std::string(row_of(op_).name) +
                                      (real_ == DType::F32 ? " f32" : " f64"),
                                  builder_.finish(sum));
        if (real_ == DType::F32)
            made.tolerance = 2e-5;
        return made;
    }

private:
    ValueId argument(const char* name, std::int32_t rows, Axes axes,
                     DType dtype = DType::F32) {
        if (kind_of(dtype) == DTypeKind::Float)
            dtype = real_;
        const auto on = [&](Axes axis, const std::string& suffix) {
            ir::Argument made{name + suffix,     dtype, std::uint8_t(rows != 0),
                              std::max(rows, 1), 1,     axis};
            return builder_.argument(made, axis);
        };
        return axes == Axes::IJ ? builder_.apply(Op::Mul, {on(Axes::I, "i"),
                                                           on(Axes::J, "j")})
                                : on(axes, "");
    }

    ValueId table(std::int32_t rows, std::int32_t columns) {
        ir::Argument made{"A",
                          real_,
                          std::uint8_t(columns ? 2 : 1),
                          rows,
                          std::max(columns, 1),
                          Axes::None};
        return builder_.argument(made, Axes::None);
    }

    ValueId operand(int number) {
        const ir::OpRow& row = row_of(op_);
        const Axes axes = number % 2 ? Axes::J : Axes::I;
        const char* names[] = {"a", "b", "c"};
        const char* name = names[number];
        switch (row.shape) {
        case ir::ShapeRule::Contract:
        case ir::ShapeRule::Cross:
        case ir::ShapeRule::Outer:
        case ir::ShapeRule::Contract1:
            return argument(name, 3, axes);
        case ir::ShapeRule::MatVec:
            return number == 0 ? table(2, 3) : argument(name, 3, axes);
        case ir::ShapeRule::VecMat:
            return number == 1 ? table(3, 2) : argument(name, 3, axes);
        case ir::ShapeRule::Gather:
            if (number == 0)
                return table(3, op_ == Op::Gather ? 0 : 4);
            return argument(name, 0, axes, DType::I32);
        case ir::ShapeRule::Elementwise:
            break;
        }
        const bool truth =
            row.result == ir::ResultRule::Logic ||
            (row.result == ir::ResultRule::Select && number == 0);
        if (truth)
            return argument(name, 0, axes, DType::Bool);
        if (row.result == ir::ResultRule::Whole)
            return argument(name, 0, axes, DType::I32);
        const bool order = number == 0 && op_ == Op::Polygamma;
        return argument(name, 0, axes, order ? DType::I8 : DType::F32);
    }

    Op op_;
    DType real_;
    ir::Builder builder_;
};

/// Reduced over both axes, and yet one result a row: no formula says that.
bool folds_and_keeps(const ir::Graph& graph) {
    const bool folds = std::ranges::any_of(graph.nodes, [](const auto& node) {
        return node.op == Op::Reduce && Axes(node.second) == Axes::IJ;
    });
    return folds && graph[graph.result].type.axes != Axes::None;
}

std::string_view text_of(ir::Reduction reduction) {
    switch (reduction) {
    case ir::Reduction::LogSumExp:
        return "logsumexp_j(a_i*b_j, c_j) + logsumexp_j(a_i - b_j)";
    case ir::Reduction::SoftMax:
        return "softmax_j(a_i*b_j, [c_j, b_j]) * a_i";
    case ir::Reduction::KMin:
        return "kmin_j(abs(a_i - b_j), 3) + a_i";
    case ir::Reduction::ArgKMin:
        return "argkmin_j(abs(a_i - b_j), 3)";
    case ir::Reduction::Any:
        return "any_j(a_i < b_j - 0.3)";
    case ir::Reduction::All:
        return "all_j(a_i < b_j + 0.8)";
    case ir::Reduction::Count:
        return "count_j(a_i < b_j)";
    case ir::Reduction::Fold:
        return "fold_j(a_i*b_j, [0, 0], f) with f(s, t) = s + t";
    case ir::Reduction::Sum:
    case ir::Reduction::Mean:
    case ir::Reduction::Prod:
    case ir::Reduction::Max:
    case ir::Reduction::Min:
    case ir::Reduction::ArgMax:
    case ir::Reduction::ArgMin:
        return "";
    }
    return "";
}

CudaCase reduction_case(ir::Reduction reduction, std::string_view dtype) {
    const ir::ReductionRow& row = row_of(reduction);
    std::string formula(text_of(reduction));
    if (formula.empty())
        formula = std::string(row.spelling) + "_j(a_i*b_j + c_j/3)";
    const std::string type(dtype);
    std::string types = "a " + type + ", b " + type;
    if (formula.find("c_j") != std::string::npos)
        types += ", c " + type;
    return cuda_case(std::string(row.name) + " " + type, formula, types);
}

} // namespace

CudaCase cuda_case(std::string_view name, std::string_view formula,
                   std::string_view types) {
    const ir::Graph graph = graph_of(formula, types);
    const bool reduces =
        std::ranges::count(graph.nodes, Op::Reduce, &ir::Node::op) > 0;
    const bool pairs = graph[graph.result].type.axes == Axes::IJ;
    Program program = program_of(
        formula, types, !reduces && pairs ? Mode::Values : Mode::Reduce);
    return {std::string(name),     program.graph(),   2, 0,
            program.single_column, program.single_row};
}

std::vector<CudaCase> formula_cases() {
    std::vector<CudaCase> cases;
    for (const auto& list :
         {all_cases(), simplify_cases(), canonicalise_cases()})
        for (const Case& c : list)
            cases.push_back(cuda_case(c.name, c.formula, c.arguments));
    return cases;
}

std::vector<CudaCase> table_cases() {
    std::vector<CudaCase> cases;
    for (std::size_t k = 0; k < ir::all_op_rows().size(); ++k)
        for (DType real : {DType::F32, DType::F64})
            cases.push_back(RowCase(ir::op_of_row(k), real).run());
    for (std::size_t k = 0; k < ir::all_reduction_rows().size(); ++k)
        for (const char* dtype : {"f32", "f64"})
            cases.push_back(reduction_case(ir::Reduction(k), dtype));
    return cases;
}

namespace {

/// A formula, and how exactly its products are computed.
struct MultipliedCase {
    const char *formula, *arguments;
    double product_error, tolerance;
    std::int32_t width = 2;
};
constexpr const char* gaussian = "sum_j exp(-|x_i - y_j|²/2l²) b_j";

std::vector<CudaCase> cases_of(std::span<const MultipliedCase> rows) {
    std::vector<CudaCase> cases;
    for (const MultipliedCase& row : rows) {
        cases.push_back(
            cuda_case(std::string(row.formula) + " " + row.arguments,
                      row.formula, row.arguments));
        cases.back().product_error = row.product_error;
        cases.back().tolerance = row.tolerance;
        cases.back().width = row.width;
    }
    return cases;
}

} // namespace

std::vector<CudaCase> product_cases() {
    const MultipliedCase rows[] = {
        {gaussian, "x f32[32], y f32[32], b f32, l f64", 0, 4e-6},
        {gaussian, "x f32[35], y f32[35], b f32, l f64", 0, 4e-6},
        {gaussian, "x f32[16], y f32[16], b f32, l f64", 2.5e-7, 2e-5},
        {gaussian, "x f32[9], y f32[9], b f32, l f64", 2.5e-7, 2e-5},
        {gaussian, "x f32[64], y f32[64], b f32, l f64", 2.5e-7, 2e-5},
        {gaussian, "x f32[9], y f32[9], b f32, l f64", 1e-6, 2e-5},
        {gaussian, "x f32[16], y f32[16], b f32, l f64", 1e-5, 2e-4},
        {"sum_j exp(x_i·y_j) b_j", "x f32[11], y f32[11], b f32", 1e-5, 2e-5},
        {"sum_j exp(x_i·y_j/9) b_j", "x f32[40], y f16[40], b f32", 5e-3, 1e-2},
        {gaussian, "x f32[24], y f32[24], b f32, l f64", 5e-3, 5e-2},
        {gaussian, "x f32[40], y f32[40], b f32, l f64", 1e-6, 2e-5},
        {gaussian, "x f32[64], y f32[64], b f32, l f64", 1e-5, 2e-4},
        {gaussian, "x f32[27], y f16[27], b f32, l f64", 1e-5, 2e-4},
        {"sum_j exp(-|x_i - y_j|²) * [b_j, 1]", "x f32[32], y f32[32], b f32",
         0, 4e-6},
        {"sum_j exp(-|x_i - y_j|/l) b_j", "x f32[24], y f32[24], b f32, l f64",
         1e-6, 2e-4},
        {"sum_j (x_i·y_j)³", "x f32[24], y f32[24]", 0, 4e-6},
        {"sum_j (x_i·y_j)³", "x f32[24], y f32[24]", 1e-6, 4e-6},
        {"sum_j (x_i·y_j)³", "x f32[24], y f32[24]", 1e-5, 2e-5},
        {"sum_j (x_i·y_j)³", "x bf16[24], y bf16[24]", 0, 4e-6},
        {"sum_j (x_i·y_j)³", "x f16[17], y f16[17]", 0, 4e-6},
        {"sum_j exp(y_j·x_i - 9) c_i", "x f32[33], y f32[33], c f32", 0, 8e-6},
        {"sum_j exp(-|x_i - (j*y_j)/9|²) b_j", "x f32[40], y f32[40], b f32",
         1e-5, 2e-4},
        {"(sum_j x_i·(y_j*w)) + a_i", "x f32[32], y f32[32], w f32[32], a f32",
         1e-6, 4e-6},
        {"logsumexp_j(x_i·y_j/√24)", "x f32[24], y f32[24]", 1e-6, 4e-6},
        {"softmax_j(x_i·y_j/√24, b_j)", "x bf16[24], y bf16[24], b f32", 0,
         4e-6},
        {"argmin_j |x_i - y_j|²", "x f32[32], y f32[32]", 0, 1e-9},
        {"argmax_j floor(x_i·y_j/4)", "x bf16[32], y bf16[32]", 0, 1e-9},
        {"min_ij |x_i - y_j|²", "x f32[33], y f32[33]", 0, 4e-6},
        {"argmin_ij |x_i - y_j|²", "x f32[33], y f32[33]", 0, 1e-9},
        {"sum_ij x_i·y_j", "x bf16[32], y bf16[32]", 0, 4e-6},
        {"sum_i exp(-|x_i - y_j|²) b_i", "x f32[32], y f32[32], b f32", 0,
         4e-6},
        // Exponents of 50 and more: so much of float32's rounding.
        {gaussian, "x f32[200], y f32[200], b f32, l f64", 0, 2e-5},
    };
    return cases_of(rows);
}

std::vector<CudaCase> wide_cases() {
    const MultipliedCase rows[] = {
        {gaussian, "x f32[3], y f32[3], b f32[16], l f64", 0, 4e-6, 16},
        {gaussian, "x f32[3], y f32[3], b f32[9], l f64", 0, 4e-6, 9},
        {gaussian, "x f32[3], y f32[3], b f32[100], l f64", 0, 4e-6, 100},
        {gaussian, "x f32[3], y f32[3], b bf16[24], l f64", 0, 4e-6, 24},
        {gaussian, "x f32[3], y f32[3], b f16[24], l f64", 1e-5, 2e-4, 24},
        {gaussian, "x f32[24], y f32[24], b f32[40], l f64", 1e-6, 2e-5, 40},
        {gaussian, "x f32[3], y f32[3], b f32[11], l f64", 5e-3, 2e-2, 11},
        {"softmax_j(q_i·k_j/√64, v_j)", "q bf16[64], k bf16[64], v bf16[64]", 0,
         4e-6, 64},
        {"softmax_j(q_i·k_j/√64, v_j)", "q bf16[64], k bf16[64], v bf16[64]",
         5e-3, 2e-2, 64},
        {"softmax_j(q_i·k_j, v_j)", "q f16[32], k f16[32], v f16[16]", 0, 4e-6,
         16},
        {"softmax_j(8(x_i·y_j), b_j)", "x f32[24], y f32[24], b f32[16]", 1e-6,
         2e-5, 16},
        {"softmax_j(q_i·k_j/9, v_j)", "q bf16[128], k bf16[128], v bf16[128]",
         0, 4e-6, 128},
        // Keys lie so that they are copied 16 bytes a time, or values.
        {"softmax_j(a_i + q_i·k_j/√64, v_j)",
         "a f32, q bf16[64], k bf16[64], v bf16[40]", 0, 4e-6, 40},
        {"softmax_j(q_i·k_j/√64, v_j)", "q bf16[64], k bf16[64], v bf16[72]", 0,
         4e-6, 72},
        {"softmax_j(q_i·k_j/√20, v_j)", "k bf16[20], q bf16[20], v bf16[20]", 0,
         4e-6, 20},
        {"softmax_j(q_i·k_j, v_j)", "q f16[48], k f16[48], v f16[56]", 5e-3,
         2e-3, 56},
        {"softmax_j(99 where(j < 9, -inf, q_i·k_j), v_j)",
         "k f16[16], q f16[16], v f16[16]", 5e-3, 2e-3, 16},
        {"softmax_j(-9|x_i - y_j|², b_j)", "x f32[3], y f32[3], b f16[10]", 0,
         4e-6, 10},
        {"sum_j exp(q_i·k_j/8) v_j", "q bf16[32], k bf16[32], v bf16[32]", 0,
         4e-6, 32},
        {"sum_j exp(q_i·k_j/8) v_j", "k f16[32], q f16[32], v f16[24]", 5e-3,
         2e-2, 24},
        {"softmax_j(q_i·k_j, v_j)", "q bf16[16], k bf16[16], v f32[64]", 0,
         4e-6, 64},
        {"softmax_j(q_i·k_j, v_j)", "q bf16[16], k bf16[16], v f32[96]", 1e-5,
         2e-5, 96},
        {"softmax_j(where(j <= i, q_i·k_j, -inf), v_j)",
         "q bf16[16], k bf16[16], v bf16[8]", 0, 4e-6, 8},
        {"softmax_j(-9|x_i - y_j|², b_j)", "x f32[3], y f32[3], b f32[10]", 0,
         4e-6, 10},
        {"c_i + softmax_j(-9|x_i - y_j|², b_j)",
         "x f32[3], y f32[3], b f32[10], c f32", 0, 4e-6, 10},
        {"mean_j (x_i·y_j) b_j", "x f32[3], y f32[3], b f32[10]", 0, 4e-6, 10},
        {gaussian, "x f32[3], y f32[3], b f32[9], l f64", 0, 4e-6, 21},
        {gaussian, "x f32[3], y f32[3], b f32[9], l f64", 0, 4e-6, 70},
        {gaussian, "x f32[3], y f32[3], b bf16[9], l f64", 0, 4e-6, 200},
    };
    return cases_of(rows);
}

std::vector<CudaCase> chosen_cases() {
    const char* formulas[][2] = {
        {gaussian, "x f32[3], y f32[3], b f32, l f64"},
        {gaussian, "x f32[40], y f32[40], b f32[12], l f64"},
        {"argmin_j |x_i - y_j|²", "x f32[3], y f32[3]"},
        {"argmin_j where(a_i < b_j, inf, inf)", "a f32, b f32"},
        {"argkmin_j(|x_i - y_j|², 3)", "x f32[2], y f32[2]"},
        {"argkmin_j(|x_i - y_j|², 3)", "x f32[20], y f32[20]"},
        {"mean_j a_i*b_j", "a f32, b f32"},
        {"softmax_j(a_i*b_j, c_j)", "a f32, b f32, c f32[9]"},
        {"sum_ij a_i*b_j", "a f64, b f64"},
        {"argmax_ij a_i*b_j", "a f32, b f32"},
    };
    std::vector<CudaCase> cases;
    for (const auto& [formula, types] : formulas) {
        Program program = program_of(formula, types, Mode::Chosen);
        cases.push_back({formula, program.graph(), 9, 0, program.single_column,
                         program.single_row});
    }
    return cases;
}

std::vector<CudaCase> edge_cases() {
    const char* formulas[] = {
        // Ties go to the first; the first NaN wins, but is last of the K.
        "argmax_j (floor(3a_i) + floor(3b_j))",
        "argmin_j floor(5a_i*b_j)",
        "argmin_j log(b_j - a_i)",
        "argmax_j log(b_j - a_i)",
        "min_j log(b_j - a_i)",
        "max_j log(b_j - a_i)",
        "argkmin_j(floor(9log(b_j - a_i)), 5)",
        "kmin_j(log(b_j - a_i), 5)",
        "argkmin_j(floor(4b_j) + floor(2a_i), 7)",
        "argmin_j where(b_j > a_i, inf, inf)",
        "argmax_ij where(b_j > a_i, floor(3b_j), -inf)",
        // A row of -inf; some of it; NaN; inf.
        "logsumexp_j(log(floor(a_i + b_j)))",
        "logsumexp_j(log(b_j - a_i))",
        "softmax_j(log(floor(a_i + b_j)), b_j)",
        "softmax_j(log(b_j - a_i), b_j)",
        "logsumexp_j(90*a_i*b_j)",
        "softmax_j(where(b_j > 0.9, inf, a_i), b_j)",
        "sum_j 1/floor(2b_j + a_i)",
        "sum_j b_j*exp(-40*a_i)*exp(-40*b_j)",
        "max_ij log(b_j - a_i)",
    };
    std::vector<CudaCase> cases;
    for (const char* formula : formulas)
        for (const char* types : {"a f32, b f32", "a f64, b f64"})
            cases.push_back(
                cuda_case(std::string(formula) + " " + types, formula, types));
    return cases;
}

std::vector<CudaCase> random_cases(std::uint64_t seed, int count) {
    std::vector<CudaCase> cases;
    for (int k = 0; k < count; ++k) {
        const std::uint64_t number = seed + std::uint64_t(k);
        CudaCase made =
            canonical("random " + std::to_string(number), random_graph(number));
        if (folds_and_keeps(made.graph))
            continue;
        made.tolerance = made.graph.real == DType::F32 ? 1e-4 : 1e-9;
        cases.push_back(std::move(made));
    }
    return cases;
}

} // namespace tilefold::tests
