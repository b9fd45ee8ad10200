// tests/compiler/test_lower.cpp - what is decided of a kernel before code is
// emitted, without LLVM.

#include "compiler/backends/cpu/choose_plan.h"
#include "compiler/backends/cpu/lower/lowered_kernel.h"
#include "compiler/ir/text.h"
#include "compiler/language/vocabulary.h"
#include "formulas/parser.h"
#include "tests/compiler/cases.h"
#include "tests/compiler/support.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

namespace tilefold::tests {
namespace {

/// A formula, and what it is computed by.
struct LoweredCase {
    const char* name;
    const char* formula;
    const char* arguments;
    Isa isa = Isa::X86_64_V4;
    double tolerance = 0;
    Specialization purpose = {};
};

CpuProgram compiled(const LoweredCase& c) {
    return plan_for_cpu(compile(parse(c.formula, vocabulary()),
                                arguments(c.arguments), Mode::Reduce,
                                c.purpose),
                        {.isa = c.isa, .tolerance = c.tolerance});
}

LoweredKernel lowered(const LoweredCase& c) {
    const CpuProgram program = compiled(c);
    return lower(program.graph(), program.plan);
}

// clang-format off
/// One for each way of contractions.def, and for each kind of loop.
constexpr LoweredCase shown[] = {
    {"short vectors", "sum_j exp(-|x_i - y_j|²/2l²) b_j", "x f32[3], y f32[3], b f32, l f64"},
    {"open width", "sum_j exp(-|x_i - y_j|²/2l²) b_j", "x f32[3], y f32[3], b f32[2], l f64"},
    {"long vectors", "sum_j exp(-|x_i - y_j|²/2l²) b_j", "x f32[64], y f32[64], b f32, l f64"},
    {"layers", "sum_j w·relu(V @ tanh(W @ [x_i, y_j] + c) + d)", "w f64[24], V f64[24,16], W f64[16,6], x f32[3], y f32[3], c f64[16], d f64[24]"},
    {"layers of vectors", "sum_j relu(V @ tanh(x_i - y_j))", "V f64[24,16], x f32[16], y f32[16]", Isa::X86_64_V3},
    {"layer tiles", "sum_j w·relu(V @ tanh(W @ [x_i, y_j] + c) + d)", "w f32[40], V f32[40,33], W f32[33,6], x f32[3], y f32[3], c f32[33], d f32[40]", Isa::X86_64_V4_AMX, 1e-4},
    {"slabs", "sum_j exp(-|x_i - y_j|²/2l²) b_j", "x f32[500], y f32[500], b f32, l f64"},
    {"words", "argmax_j x_i·y_j", "x i8[64], y i8[64]", Isa::X86_64_V4_VNNI},
    {"words of pairs", "argmin_j |x_i - y_j|²", "x i8[64], y u8[64]", Isa::X86_64_V3},
    {"word tiles", "argmax_j x_i·y_j", "x i8[64], y i8[64]", Isa::X86_64_V4_AMX},
    {"split tiles", "max_j x_i·y_j", "x f32[64], y f32[64]", Isa::X86_64_V4_AMX, 1e-2},
    {"rounded words", "max_j x_i·y_j", "x f32[64], y f32[64]", Isa::Zen4, 1e-2},
    {"a filter", "argkmin_j(|x_i - y_j|², 10)", "x f32[8], y f32[8]"},
    {"a filter of words", "argkmin_j(|x_i - y_j|², 10)", "x f32[64], y f32[64]", Isa::Zen4},
    {"attention", "softmax_j(q_i·k_j/√64, v_j)", "q f32[64], k f32[64], v f32[16]"},
    {"attention of bf16", "softmax_j(q_i·k_j/√64, v_j)", "q bf16[64], k bf16[64], v bf16[64]", Isa::X86_64_V4_AMX},
    {"an argmin in double", "argmin_j |x_i - y_j|²", "x f64[3], y f64[3]", Isa::X86_64_V3},
    {"a chain of components", "sum_j sum(sin(cos(exp(tanh(sin(x_i - y_j))))))", "x f32[64], y f32[64]"},
    {"chains of points", "sum_j tanh(sin(cos(exp(x_i)))) · tanh(sin(cos(sin(y_j))))", "x f32, y f32"},
    {"chains of constants and results", "log(1 + sum(sin(tanh(exp(cos(sin(p))))))) sum(tanh(exp(cos(sin(2 sum_j (x_i - y_j))))))", "p f32[64], x f32[64], y f32[64]"},
    {"without rare ways", "sum_j sin(|x_i - y_j|) b_j", "x f32[3], y f32[3], b f32"},
    {"computed rows", "sum_j exp(-|x_i - y_j|²/2l_i²) b_j", "x f32[3], y f32[3], b f32, l f32"},
};
// clang-format on

TEST(Lower, Golden) {
    std::string text;
    for (const LoweredCase& c : shown) {
        const CpuProgram program = compiled(c);
        text += std::string("── ") + c.name + ": " + c.formula + "\n" +
                ir::print(program.graph()) + print(program.plan) + "\n\n" +
                print(lower(program.graph(), program.plan), program.graph(),
                      program.plan) +
                "\n";
    }
    expect_golden("lowered.txt", text);
}

TEST(Lower, EachWayIsTaken) {
    std::set<Contraction> taken;
    for (const LoweredCase& c : shown)
        for (const auto& [id, way] : lowered(c).contractions.ways)
            taken.insert(way);
#define CONTRACTION(...) +1
    constexpr std::size_t rows =
#include "compiler/backends/cpu/contractions.def"
        ;
#undef CONTRACTION
    EXPECT_EQ(taken.size(), rows);
}

TEST(Lower, TheMatrixUnitHasOneDepth) {
    const LoweredKernel kernel =
        lowered({"", "max_j (x_i·y_j + u_i·v_j)",
                 "x i8[64], y i8[64], u i8[80], v i8[80]", Isa::X86_64_V4_AMX});
    ASSERT_EQ(kernel.contractions.words.size(), 4u);
    for (const auto& [id, words] : kernel.contractions.words)
        EXPECT_EQ(words.depth, kernel.contractions.depth);
    EXPECT_EQ(kernel.column_tile % square_rows, 0);
}

/// NaN has to reach a sum from each function that has a rare way, and there
/// has to be one.
TEST(Lower, RareWaysAreLeftOutWhereASumTells) {
    const auto leaves_out = [](const char* formula) {
        return lowered({"", formula, "x f32, y f32"}).leaves_rare_out;
    };
    for (const char* formula :
         {"sum_j sin(x_i y_j)", "sum_j y_j exp(-cos(x_i y_j)²)",
          "prod_j tan(x_i y_j)", "[sum_j sin(x_i y_j), max_j x_i y_j]"})
        EXPECT_TRUE(leaves_out(formula)) << formula;
    for (const char* formula :
         {"sum_j exp(x_i y_j)", "max_j sin(x_i y_j)",
          "sum_j where(sin(x_i y_j) < 0, 1, 2)", "sum_j sin(x_i y_j)^(x_i y_j)",
          "sum_j lgamma(abs(x_i y_j))", "sum_j lgamma(x_i y_j)",
          "sum_j sin(x_i y_j) besselj(1, x_i y_j)", "sum_j besselj(2, x_i y_j)",
          "sum_j x_i y_j sin(y_j)", "logsumexp_j(sin(x_i y_j))",
          "[sum_j sin(x_i y_j), max_j cos(x_i y_j)]",
          "[sum_j sin(x_i y_j), fold_j(x_i y_j, 0, f, g)] with f(s, t) = s + "
          "sin(t), g(s, t) = s + t"})
        EXPECT_FALSE(leaves_out(formula)) << formula;
}

TEST(Lower, ATileOfColumnsFollowsItsReductions) {
    EXPECT_FALSE(lowered(shown[0]).by_column_tiles);
    const LoweredKernel attention = lowered({"", "softmax_j(q_i·k_j, v_j)",
                                             "q f32[4], k f32[4], "
                                             "v f32[16]"});
    EXPECT_TRUE(attention.by_column_tiles);
    ASSERT_EQ(attention.reductions.size(), 1u);
    EXPECT_TRUE(attention.reductions[0].in_memory);
    EXPECT_FALSE(attention.reductions[0].by_matrices);
    EXPECT_EQ(attention.reductions[0].fields.size(), 3u);
}

/// The chains of all that a kernel computes.
std::vector<LoopChain> chains_of(const LoweredKernel& kernel) {
    std::vector<LoopChain> all;
    for (const Operands* operands : {&kernel.rows, &kernel.columns})
        if (!operands->scalars.empty())
            all.push_back(operands->scalars);
    for (const LoopChains* chains :
         {&kernel.rows.chains, &kernel.columns.chains, &kernel.constant_chains,
          &kernel.pair_chains, &kernel.result_chains})
        for (const auto& [id, chain] : *chains)
            all.push_back(chain);
    return all;
}

TEST(Lower, LoopsOfAChainReadWhatEarlierOnesLeave) {
    std::size_t chains = 0;
    for (const LoweredCase& c : shown) {
        const CpuProgram program = compiled(c);
        const ir::Graph& graph = program.graph();
        for (const LoopChain& chain : chains_of(lower(graph, program.plan))) {
            ++chains;
            std::map<ir::ValueId, std::size_t> made;
            for (std::size_t loop = 0; loop < chain.loops.size(); ++loop)
                for (ir::ValueId id : chain.loops[loop].values) {
                    EXPECT_TRUE(made.emplace(id, loop).second) << c.name;
                    for (ir::ValueId operand : graph[id].inputs()) {
                        const auto at = made.find(operand);
                        if (at == made.end() || at->second == loop)
                            continue;
                        const auto handed = std::ranges::find(
                            chain.handed, operand, &HandedValue::id);
                        ASSERT_NE(handed, chain.handed.end()) << c.name;
                        EXPECT_EQ(handed->made, at->second) << c.name;
                        EXPECT_GE(handed->last, loop) << c.name;
                    }
                }
            for (const HandedValue& a : chain.handed)
                for (const HandedValue& b : chain.handed)
                    EXPECT_TRUE(a.id == b.id || a.place != b.place ||
                                a.last <= b.made || b.last <= a.made)
                        << c.name;
        }
    }
    EXPECT_GE(chains, 4u);
}

TEST(Lower, ASineOfAChainIsACallInPlace) {
    const LoweredKernel kernel = lowered(
        {"", "sum_j sum(exp(sin(exp(x_i - y_j))))", "x f32[64], y f32[64]"});
    const LoweredKernel of_double = lowered(
        {"", "sum_j sum(exp(sin(exp(x_i - y_j))))", "x f64[64], y f64[64]"});
    const auto calls = [](const LoweredKernel& of) {
        return std::ranges::count_if(of.pair_chains.begin()->second.loops,
                                     [](const ChainLoop& loop) {
                                         return loop.sines_in_place.has_value();
                                     });
    };
    ASSERT_EQ(kernel.pair_chains.size(), 1u);
    EXPECT_EQ(calls(kernel), 1);
    ASSERT_EQ(of_double.pair_chains.size(), 1u);
    EXPECT_EQ(calls(of_double), 0);
}

TEST(Lower, FewFunctionsAreOneLoop) {
    const LoweredKernel kernel =
        lowered({"", "sum_j sum(exp(x_i - y_j))", "x f32[64], y f32[64]"});
    EXPECT_TRUE(chains_of(kernel).empty());
    EXPECT_FALSE(kernel.calls_sines);
}

TEST(Lower, PowersAreAddedWhereNothingElseReadsThem) {
    const auto adds = [](const char* formula, const char* arguments) {
        return lowered({"", formula, arguments}).reductions[0].adds_powers;
    };
    EXPECT_TRUE(adds("sum_j exp(-|x_i - y_j|)", "x f32[3], y f32[3]"));
    EXPECT_FALSE(adds("max_j exp(x_i - y_j)", "x f32, y f32"));
    EXPECT_FALSE(
        adds("sum_j [e, sin(e)] with e = exp(x_i - y_j)", "x f32, y f32"));
    EXPECT_FALSE(
        adds("sum_j (e + sin(e)) with e = exp(x_i - y_j)", "x f32, y f32"));
}

TEST(Lower, RegistersHoldTheAccumulatorsOfSomeComponents) {
    for (const Isa isa : {Isa::X86_64_V3, Isa::X86_64_V4, Isa::Zen5}) {
        const LoweredCase c{"", "sum_j exp(-|x_i - y_j|²) v_j",
                            "x f32[3], y f32[3], v f32[200]", isa};
        const CpuProgram program = compiled(c);
        const LoweredReduction reduction =
            lower(program.graph(), program.plan).reductions[0];
        EXPECT_TRUE(reduction.in_memory);
        EXPECT_GE(reduction.components_at_once, 1);
        EXPECT_LE(
            (reduction.components_at_once + 1) * program.plan.row_vectors + 2,
            row_of(isa).registers);
    }
}

/// Bytes [begin, end) of scratch, at the width 0, and what has them.
using Ranges = std::map<std::int64_t, std::pair<std::int64_t, std::string>>;

void add(Ranges& ranges, std::int64_t begin, std::int64_t bytes,
         const std::string& what) {
    if (bytes == 0)
        return;
    const bool is_new =
        ranges.emplace(begin, std::pair(begin + bytes, what)).second;
    EXPECT_TRUE(is_new) << what;
}

std::int64_t bytes_of(const ir::Graph& graph, const LoweredKernel& kernel,
                      const Operands& operands, ir::ValueId id) {
    const Operand& operand = operands.of.at(id);
    const Words* words = kernel.contractions.words_of(id);
    const std::int64_t components =
        words ? words->packed() : components_of(graph[id].type);
    if (graph[id].type.rows == dynamic)
        return 0;
    if (operand.order == OperandOrder::Points)
        return operands.capacity * operand.run;
    return operands.capacity * components *
           std::int64_t(size_of(operand.dtype));
}

/// What lies in scratch lies apart, in what is asked for.
TEST(Lower, NothingOverlapsInScratch) {
    std::vector<LoweredCase> all(std::begin(shown), std::end(shown));
    for (const Case& c : all_cases())
        for (const Isa isa : {Isa::X86_64_V3, Isa::X86_64_V4_AMX})
            all.push_back({c.name.data(), c.formula.data(), c.arguments.data(),
                           isa, 1e-2});
    for (const LoweredCase& c : all) {
        SCOPED_TRACE(c.formula);
        const ir::Graph built = graph_of(c.formula, c.arguments);
        if (std::ranges::count(built.nodes, ir::Op::Reduce, &ir::Node::op) == 0)
            continue;
        CpuProgram program;
        try {
            program = compiled(c);
        } catch (const Error&) {
            continue; // of several sweeps
        }
        const LoweredKernel kernel = lower(program.graph(), program.plan);
        Ranges ranges;
        for (const Operands* operands : {&kernel.rows, &kernel.columns})
            for (const auto& [id, operand] : operands->of)
                add(ranges, operand.place.offset,
                    bytes_of(program.graph(), kernel, *operands, id),
                    "%" + std::to_string(id));
        for (const Kept* kept :
             {&kernel.kept.slabs, &kernel.kept.tiles, &kernel.kept.scalars})
            for (const auto& [id, offset] : kept->offsets)
                add(ranges, offset, kernel.vector_bytes, "kept");
        for (const LoweredReduction& reduction : kernel.reductions)
            add(ranges, reduction.memory.offset,
                reduction.list_vectors * kernel.vector_bytes, "list");
        std::int64_t end = 0;
        for (const auto& [begin, range] : ranges) {
            EXPECT_GE(begin, end) << range.second;
            end = range.first;
        }
        EXPECT_LE(end, kernel.scratch.offset);
    }
}

/// Prepare would copy it for each call. A table that is small is copied, for
/// its layout is known then; and one of which more than elements is read.
TEST(Lower, ATileOfColumnsBoundsAListByMoreGroupsThanItHasPlaces) {
    const auto columns = [](std::int64_t k, std::int64_t tile) {
        return SmallestListSizes{k}.columns_of_bound(tile);
    };
    EXPECT_EQ(columns(10, 256), 8);
    EXPECT_EQ(columns(10, 60), 4);
    EXPECT_EQ(columns(10, 30), 2);
    EXPECT_EQ(columns(10, 16), 1);
    EXPECT_EQ(columns(64, 256), 2);
    EXPECT_EQ(columns(65, 1 << 20), 1);
}

TEST(Lower, ALargeTableIsReadInPlace) {
    const auto count = [](const char* formula, const char* arguments) {
        return lowered({"", formula, arguments}).placement.in_place.size();
    };
    const char* elements = "sum_j G[i, j] x_i b_j";
    EXPECT_EQ(count(elements, "G f32[100,100], x f32, b f32"), 1u);
    EXPECT_EQ(count(elements, "G f64[100,100], x f32, b f32"), 1u);
    EXPECT_EQ(count(elements, "G f16[100,100], x f32, b f32"), 0u);
    EXPECT_EQ(count(elements, "G f32[10,100], x f32, b f32"), 0u);
    EXPECT_EQ(count("sum_j (G[i, j] + sum(G @ x_i)) b_j",
                    "G f32[100,100], x f32[100], b f32"),
              0u);
}

} // namespace
} // namespace tilefold::tests
