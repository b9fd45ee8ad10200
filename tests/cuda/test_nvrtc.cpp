// tests/cuda/test_nvrtc.cpp - emitted code through NVRTC, for real
// architectures: registers, spills, instructions a pair.

#include "compiler/backends/cuda/plan/choose_plan.h"
#include "compiler/backends/cuda/plan/model.h"
#include "compiler/backends/cuda/text/instructions.h"
#include "runtime/cuda/nvrtc.h"
#include "tests/compiler/support.h"
#include "tests/cuda/cases.h"
#include "tests/cuda/function_slots.h"
#include "tests/cuda/sass.h"
#include "tests/sample.h"

#include <gtest/gtest.h>

#include <optional>

#include <algorithm>
#include <cstdlib>
#include <iterator>

namespace tilefold::tests {
namespace {

cuda::Nvrtc& nvrtc() {
    static cuda::Nvrtc compiler({package_folders(), {}, false});
    return compiler;
}

cuda::Image compiled(const CudaCase& of, std::int32_t width, int major,
                     int minor = 0) {
    return nvrtc().compile(
        of.graph,
        cuda::choose_plan(of.graph, cuda::width_block_of(width),
                          of.product_error, cuda::has_tensor_cores(major)),
        major, minor);
}

/// The major versions of the cards that code is compiled for, or in a sample
/// one of them, which differs from test to test and from day to day.
std::vector<int> majors() {
    const std::vector<int> all = {8, 9, 10, 12};
    const std::string name =
        testing::UnitTest::GetInstance()->current_test_info()->name();
    for (std::size_t left = all.size(); left > 1; --left)
        if (const int major = all[left - 1]; !tests::in_sample(
                1 - 1.0 / double(left), name + std::to_string(major)))
            return {major};
    return tests::is_whole_sample() ? all : std::vector{all.front()};
}

/// "x f32[D], y f32[D], b f32, l f64"
CudaCase gaussian_case(int dimensions) {
    const std::string vector = " f32[" + std::to_string(dimensions) + "], ";
    return cuda_case("gaussian", "sum_j exp(-|x_i - y_j|²/2l²) b_j",
                     "x" + vector + "y" + vector + "b f32, l f64");
}

std::vector<CudaCase> benchmarks() {
    return {
        gaussian_case(3),
        gaussian_case(16),
        gaussian_case(64),
        cuda_case("laplace", "sum_j exp(-|x_i - y_j|/l) b_j",
                  "x f32[3], y f32[3], b f32, l f64"),
        cuda_case("cauchy", "sum_j b_j/(1 + |x_i-y_j|²/l²)",
                  "x f32[3], y f32[3], b f32, l f64"),
        cuda_case("attention", "softmax_j(q_i·k_j/√64, v_j)",
                  "q bf16[64], k bf16[64], v bf16[64]"),
        cuda_case("knn", "argkmin_j(|x_i - y_j|², 10)", "x f32[3], y f32[3]"),
        cuda_case("sinkhorn", "logsumexp_j(g_j - |x_i - y_j|²/2ε)",
                  "x f32[3], y f32[3], g f32, ε f64"),
        cuda_case("matrix", "exp(-|x_i - y_j|²/2l²)",
                  "x f32[10], y f32[10], l f64"),
        cuda_case("double", "sum_j exp(-|x_i - y_j|²/2l²) b_j",
                  "x f64[3], y f64[3], b f64, l f64"),
    };
}

TEST(Nvrtc, CompilesTheBenchmarksForEveryCardWithoutASpill) {
    for (const CudaCase& each : benchmarks())
        for (const int major : majors()) {
            const cuda::Image image = compiled(each, 64, major);
            EXPECT_FALSE(image.is_ptx);
            EXPECT_FALSE(image.codes.empty());
            const cuda::Resources* loop = image.resources_of(
                image.shape.reduces ? "accumulate" : "dense");
            ASSERT_TRUE(loop) << each.name;
            EXPECT_EQ(loop->spill_stores + loop->spill_loads, 0)
                << each.name << " sm_" << major << "0: " << print(image.plan);
            EXPECT_EQ(loop->shared_bytes, 0) << "all of it is the launch's";
            EXPECT_LE(image.shape.shared_bytes, 96 * 1024);
        }
}

cuda::Image compiled_for_few(const CudaCase& of, int major) {
    return nvrtc().compile(of.graph, *cuda::choose_plans(of.graph, 8).few,
                           major, 0);
}

TEST(Nvrtc, KernelsOfFewRowsSpillNothing) {
    for (const CudaCase& each : benchmarks()) {
        if (!cuda::choose_plans(each.graph, 8).few)
            continue;
        for (const int major : majors()) {
            const cuda::Image image = compiled_for_few(each, major);
            EXPECT_EQ(image.plan.lanes, cuda::Lanes::Columns);
            const cuda::Resources* loop = image.resources_of("accumulate");
            EXPECT_EQ(loop->spill_stores + loop->spill_loads, 0)
                << each.name << " sm_" << major << "0: " << print(image.plan);
            EXPECT_LE(image.shape.shared_bytes, cuda::common_shared);
        }
    }
}

/// A column is loaded, its address found, for eight rows.
TEST(Nvrtc, APairOfFewRowsTakesLittleMore) {
    for (const int major : majors()) {
        const cuda::Image image = compiled_for_few(gaussian_case(3), major);
        const Loop loop = innermost_loop(image, "accumulate", "MUFU.EX2");
        EXPECT_LE(double(loop.size) / loop.count("MUFU.EX2"), 15) << major;
    }
}

/// An H200's memory takes as long as 28 instructions of each element that is
/// written; those of 10 components are 23 by the formula alone.
TEST(Nvrtc, AnElementOfAKernelMatrixTakesFewInstructions) {
    for (const auto& [d, most] : {std::pair(2, 28), std::pair(10, 64)}) {
        const std::string vector = " f32[" + std::to_string(d) + "]";
        const CudaCase matrix =
            cuda_case("matrix", "exp(-|x_i - y_j|²/2l²)",
                      "x" + vector + ", y" + vector + ", l f64");
        for (const int major : majors()) {
            const Loop loop =
                innermost_loop(compiled(matrix, 1, major), "dense", "MUFU.EX2");
            EXPECT_LE(double(loop.size) / loop.count("MUFU.EX2"), most)
                << major;
        }
    }
}

/// Statements on one axis: a loop over points, whose sum needs no other.
TEST(Nvrtc, ChainsOfStatementsAreNotUnrolled) {
    const CudaCase chain = cuda_case(
        "chain", "sum_j sum(exp(sin(1.1cos(x_j + 0.2)) - 0.1))", "x f32[16]");
    const cuda::Image image = compiled(chain, 1, 9);
    EXPECT_EQ(image.plan.lanes, cuda::Lanes::Points);
    EXPECT_LE(instruction_count(image, "accumulate"), 1200);
}

/// Returns how many instructions a pair of a Gaussian takes: one has one
/// exponential.
double instructions_per_pair(int dimensions, int major) {
    const cuda::Image image = compiled(gaussian_case(dimensions), 1, major);
    const Loop loop = innermost_loop(image, "accumulate", "MUFU.EX2");
    return double(loop.size) / loop.count("MUFU.EX2");
}

TEST(Nvrtc, APairTakesTheInstructionsOfTheModel) {
    for (const int major : majors()) {
        EXPECT_LE(instructions_per_pair(3, major), 9.5) << major;
        EXPECT_LE(instructions_per_pair(16, major), 36) << major;
    }
}

/// The ten nearest: a bound of the distance, and behind a branch, for few
/// pairs, the distance. A column of the tile has both.
TEST(Nvrtc, ABoundTakesHalfOfADistance) {
    const CudaCase knn =
        cuda_case("knn", "argkmin_j(|x_i - y_j|², 10)", "x f32[64], y f32[64]");
    for (const int major : majors()) {
        const cuda::Image image = compiled(knn, 1, major);
        const cuda::Resources* kernel = image.resources_of("accumulate");
        EXPECT_EQ(kernel->spill_stores + kernel->spill_loads, 0) << major;
        const int columns = image.plan.columns_unrolled;
        constexpr int distance = 2 * 64;
        std::optional<Loop> tile;
        for (const Loop& loop : loops(image, "accumulate"))
            if (loop.count("FFMA") >= columns * 2 * 63 &&
                (!tile || loop.size < tile->size))
                tile = loop;
        ASSERT_TRUE(tile) << major;
        EXPECT_LE(tile->count("FFMA"), columns * (65 + distance / 2)) << major;
        EXPECT_LE(tile->count("FADD"), columns * (3 + distance / 2)) << major;
        EXPECT_LE(tile->count("LDS"), columns * 17) << major;
        const cuda::PairCost cost = cuda::cost_of_pair(knn.graph, image.plan);
        EXPECT_NEAR(cost.single + cost.overhead, 65 + 3 + 17, 3)
            << cuda::print(cost);
    }
}

/// With an allowance, by |x|² + |y|² - 2 x·y on tensor cores: a tile is no loop
/// within another.
TEST(Nvrtc, ShortExpandedDistancesTakeTensorCores) {
    struct {
        double product_error;
        cuda::Multiply multiply;
        double instructions;
    } const cases[] = {{4e-7, cuda::Multiply::Tf32x3, 14},
                       {1e-5, cuda::Multiply::Bf16x3, 11}};
    constexpr double pairs = 64;
    for (const auto& each : cases)
        for (const int major : majors()) {
            CudaCase of = gaussian_case(16);
            of.product_error = each.product_error;
            const cuda::Image image = compiled(of, 1, major);
            EXPECT_EQ(image.plan.multiply, each.multiply);
            const Loop tile = smallest_loop(image, "accumulate", "MUFU.EX2");
            EXPECT_EQ(tile.count("MUFU.EX2"), pairs);
            EXPECT_LE(tile.size / pairs, each.instructions) << major;
            const cuda::PairCost cost =
                cuda::cost_of_pair(of.graph, image.plan);
            EXPECT_NEAR((cost.single + cost.overhead) * pairs / tile.size, 1,
                        0.15)
                << major << ": " << cuda::print(cost);
        }
}

/// 64 pairs of a thread and 8 components, in 64 and 128 instructions each and
/// few others: 8 × 8 in registers take 4 LDS.128 a component.
TEST(Nvrtc, ATileOfPairsIsHeldInRegisters) {
    for (const int major : majors()) {
        const cuda::Image image = compiled(gaussian_case(64), 1, major);
        EXPECT_EQ(image.plan.multiply, cuda::Multiply::Fma);
        const cuda::Resources* loop = image.resources_of("accumulate");
        EXPECT_EQ(loop->spill_stores + loop->spill_loads, 0);
        EXPECT_LE(loop->registers, major == 12 ? 200 : 128) << major;
        const Loop exact = innermost_loop(image, "accumulate", "FFMA");
        EXPECT_EQ(exact.count("FFMA"), 64 * 8);
        EXPECT_EQ(exact.count("FADD"), 64 * 8);
        EXPECT_EQ(exact.count("LDS"), 4 * 8);
        EXPECT_LE(exact.size, 2 * 64 * 8 * 1.05);
        const CudaCase dot =
            cuda_case("dot", "sum_j (x_i·y_j)³", "x f32[64], y f32[64]");
        const Loop product =
            innermost_loop(compiled(dot, 1, major), "accumulate", "FFMA");
        EXPECT_LE(product.size, 64 * 8 * 1.1);
    }
}

/// 64 pairs of a thread and 16 components take 4096 · 16 · 16 / (16 · 8 · 8)
/// products of tf32, half as many of 16 bits, three times where factors have
/// two parts.
TEST(Nvrtc, TensorCoresMultiplyWithoutASpill) {
    struct Way {
        double product_error;
        const char* vectors;
        cuda::Multiply multiply;
        int products, others;
    };
    const Way ways[] = {
        {1e-6, " f32[64]", cuda::Multiply::Tf32x3, 96, 540},
        {1e-5, " f32[64]", cuda::Multiply::Bf16x3, 48, 460},
        {0, " bf16[64]", cuda::Multiply::Bf16, 16, 400},
        {0, " f16[64]", cuda::Multiply::F16, 16, 400},
    };
    for (const Way& way : ways) {
        CudaCase made = cuda_case("products", "sum_j exp(x_i·y_j) b_j",
                                  "x" + std::string(way.vectors) + ", y" +
                                      way.vectors + ", b f32");
        made.product_error = way.product_error;
        for (const int major : majors()) {
            const cuda::Image image = compiled(made, 1, major);
            EXPECT_EQ(image.plan.multiply, way.multiply);
            const cuda::Resources* kernel = image.resources_of("accumulate");
            EXPECT_EQ(kernel->spill_stores + kernel->spill_loads, 0);
            EXPECT_LE(kernel->registers, 168) << way.vectors << major;
            const Loop loop = smallest_loop(image, "accumulate", "HMMA");
            EXPECT_EQ(loop.count("HMMA"), way.products) << major;
            EXPECT_LE(loop.size - loop.count("HMMA"), way.others) << major;
        }
    }
}

/// The table of instructions against those of the machine.
TEST(Nvrtc, TheModelCountsWhatALoopHas) {
    struct {
        const char *formula, *arguments, *counted;
    } const cases[] = {
        {"sum_j exp(-|x_i - y_j|²/2l²) b_j", "x f32[3], y f32[3], b f32, l f64",
         "MUFU.EX2"},
        {"sum_j exp(-|x_i - y_j|²/2l²) b_j",
         "x f32[16], y f32[16], b f32, l f64", "MUFU.EX2"},
        {"sum_j exp(-|x_i - y_j|/l) b_j", "x f32[3], y f32[3], b f32, l f64",
         "MUFU.EX2"},
        {"sum_j b_j/(1 + |x_i-y_j|²/l²)", "x f32[3], y f32[3], b f32, l f64",
         "MUFU.RCP"},
        {"logsumexp_j(g_j - |x_i - y_j|²/2ε)",
         "x f32[3], y f32[3], g f32, ε f64", "FADD"},
    };
    for (const auto& each : cases) {
        const CudaCase of = cuda_case("", each.formula, each.arguments);
        const cuda::Image image = compiled(of, 1, 9);
        const Loop loop = innermost_loop(image, "accumulate", each.counted);
        const double pairs =
            double(image.plan.rows_per_thread) * image.plan.columns_unrolled;
        const cuda::PairCost cost = cuda::cost_of_pair(of.graph, image.plan);
        EXPECT_NEAR((cost.single + cost.overhead) * pairs / loop.size, 1, 0.25)
            << each.formula << ": " << loop.size / pairs << " instructions, "
            << cuda::print(cost);
    }
}

/// The table of functions is what NVRTC makes of them; another of its versions
/// may take some instructions more or less.
TEST(Nvrtc, FunctionsTakeWhatTheirTableSays) {
    const auto near = [](int found, int stored) {
        return std::abs(found - stored) <= 2 + stored / 10;
    };
    AddedTurns added(nvrtc());
    std::size_t row = 0;
    const std::vector<StoredTurn> stored = stored_turns();
    ASSERT_EQ(stored.size(), 2 * pair_functions().size());
    for (const PairFunction& function : pair_functions())
        for (const DType dtype : {DType::F32, DType::F64}) {
            const StoredTurn& of = stored[row++];
            ASSERT_EQ(of.function, function.name);
            if (!tests::in_sample(0.08, of.function + of.dtype))
                continue;
            const Turn turn = added.of(function, dtype);
            EXPECT_TRUE(near(turn.shortest.issued, of.least) &&
                        near(turn.longest.issued, of.longest.issued) &&
                        near(turn.longest.wide, of.longest.wide))
                << function.name << " of " << of.dtype << ": "
                << turn.shortest.issued << " to " << turn.longest.issued << ", "
                << turn.longest.wide << " in double";
        }
}

/// What the model counts of an operation is a way through its code.
TEST(Nvrtc, TheModelCountsWhatFunctionsTake) {
    std::size_t row = 0;
    const std::vector<StoredTurn> stored = stored_turns();
    for (const PairFunction& function : pair_functions())
        for (const bool is_single : {true, false}) {
            const StoredTurn& of = stored.at(row++);
            if (!function.op)
                continue;
            const cuda::Instructions counted =
                cuda::instructions_of(*function.op);
            const double issued = is_single ? counted.single : counted.twice;
            EXPECT_GE(issued, of.least) << function.name << of.dtype;
            EXPECT_LE(issued, of.longest.issued) << function.name << of.dtype;
            if (is_single)
                EXPECT_LE(counted.special, of.longest.special) << function.name;
            else
                EXPECT_LE(counted.wide, of.longest.wide) << function.name;
        }
}

/// What a tile of pairs costs a thread, which has 64 of them: the loop over the
/// chunks of its components runs within the loop over tiles.
TEST(Nvrtc, TheModelCountsWhatATileOfPairsHas) {
    struct {
        const char* formula;
        double product_error;
        cuda::Multiply multiply;
        int tensor; ///< instructions of tensor cores, of a tile
    } const cases[] = {
        {"sum_j exp(-|x_i - y_j|²/2l²) b_j", 1e-6, cuda::Multiply::Tf32x3, 384},
        {"sum_j exp(-|x_i - y_j|²/2l²) b_j", 1e-5, cuda::Multiply::Bf16x3, 192},
        {"sum_j l*(x_i·y_j)² b_j", 1e-6, cuda::Multiply::Tf32x3, 384},
        {"sum_j l*(x_i·y_j)² b_j", 1e-5, cuda::Multiply::Bf16x3, 192},
    };
    constexpr double pairs = 64, chunks = 4;
    for (const auto& each : cases) {
        CudaCase of =
            cuda_case("", each.formula, "x f32[64], y f32[64], b f32, l f64");
        of.product_error = each.product_error;
        const cuda::Image image = compiled(of, 1, 9);
        ASSERT_EQ(image.plan.multiply, each.multiply);
        const cuda::PairCost cost = cuda::cost_of_pair(of.graph, image.plan);
        EXPECT_EQ(cost.tensor * pairs, each.tensor);
        // By their ends: the chunks' loop, then the tiles'.
        const std::vector<Loop> all = loops(image, "accumulate");
        const auto chunk = std::ranges::find_if(
            all, [](const Loop& loop) { return loop.count("HMMA") > 0; });
        ASSERT_NE(chunk, all.end());
        EXPECT_EQ(chunk->count("HMMA") * chunks, each.tensor);
        const double instructions =
            (chunks - 1) * chunk->size + std::next(chunk)->size;
        EXPECT_NEAR((cost.single + cost.overhead) * pairs / instructions, 1,
                    0.15)
            << each.formula << ": " << instructions / pairs << " instructions, "
            << cuda::print(cost);
        EXPECT_LT(cost.rate(cuda::Card(), true),
                  cost.rate(cuda::Card(), false));
    }
}

/// The same of one chunk, by FFMA: its products are no loop, and the first of
/// them begin the sums, so that no register is set before (64 MOV).
TEST(Nvrtc, OneChunkOfComponentsIsNoLoop) {
    CudaCase of = gaussian_case(16);
    of.product_error = 2.5e-7;
    constexpr double pairs = 64;
    for (const int major : majors()) {
        const cuda::Image image = compiled(of, 1, major);
        ASSERT_EQ(image.plan.multiply, cuda::Multiply::Fma);
        const Loop tile = smallest_loop(image, "accumulate", "MUFU.EX2");
        EXPECT_GE(tile.count("FFMA"), (16 + 1) * pairs) << major;
        EXPECT_LT(tile.count("MOV"), pairs) << major;
        const cuda::PairCost cost = cuda::cost_of_pair(of.graph, image.plan);
        EXPECT_NEAR((cost.single + cost.overhead) * pairs / tile.size, 1, 0.1)
            << major << ": " << tile.size / pairs << " instructions, "
            << cuda::print(cost);
    }
}

CudaCase attention_of(int length, double product_error) {
    const std::string tokens = " bf16[" + std::to_string(length) + "]";
    CudaCase made = cuda_case("attention", "softmax_j(q_i·k_j/√64, v_j)",
                              "q" + tokens + ", k" + tokens + ", v" + tokens);
    made.product_error = product_error;
    return made;
}

/// The loop over tiles of attention has paths that few tiles take, about half
/// of its code: its instructions of tensor cores are compared, and what two
/// more parts of a weight add.
TEST(Nvrtc, TheModelCountsTheTensorCoresOfAttention) {
    constexpr double pairs = 64;
    double modelled[2], found[2];
    for (const int k : {0, 1}) {
        const CudaCase attention = attention_of(64, k ? 5e-3 : 0);
        const cuda::Image image = compiled(attention, 64, 9);
        const cuda::PairCost cost =
            cuda::cost_of_pair(attention.graph, image.plan);
        const Loop tile = smallest_loop(image, "accumulate", "HMMA");
        EXPECT_EQ(cost.tensor * pairs, tile.count("HMMA"));
        modelled[k] = (cost.single + cost.overhead) * pairs;
        found[k] = tile.size;
        EXPECT_LT(modelled[k], found[k]);
        EXPECT_GT(modelled[k], found[k] / 3) << cuda::print(cost);
    }
    EXPECT_NEAR((modelled[0] - modelled[1]) / (found[0] - found[1]), 1, 0.25);
}

TEST(Nvrtc, TheLoopOfAGaussianIsWhatItsFormulaSays) {
    const Loop loop = innermost_loop(compiled(gaussian_case(3), 1, 9),
                                     "accumulate", "MUFU.EX2");
    const int pairs = loop.count("MUFU.EX2");
    EXPECT_EQ(loop.count("FADD"), 3 * pairs); // differences
    EXPECT_EQ(loop.count("FFMA"), 4 * pairs); // squares, and the weight
    EXPECT_EQ(loop.count("FMUL"), pairs);     // the scale, on the square
    EXPECT_LE(loop.count("LDS"), pairs / 4);
    EXPECT_EQ(loop.count("LDG") + loop.count("LDL") + loop.count("STL"), 0);
}

/// NVRTC takes about 0.1 ms for each of them, beside 20 for any source; of the
/// two programs beside each other.
TEST(Nvrtc, CompilesFewInstructionsForAGaussian) {
    const cuda::Image image = compiled(gaussian_case(3), 1, 9);
    EXPECT_LE(instruction_count(image, "accumulate"), 440);
    EXPECT_LE(instruction_count(image, "finish"), 240);
    EXPECT_LE(instruction_count(image, "prepare"), 230);
}

/// A thread's products of keys and queries, and of values and weights of one
/// bfloat16 or three: 64 pairs of 64 components, or 32 of 128. Keys and values
/// are copied as they lie, and values turned as they are read, two tiles of
/// components at a time.
TEST(Nvrtc, AttentionMultipliesOnTensorCores) {
    for (const int length : {64, 128})
        for (const auto& [product_error, parts] :
             {std::pair(0.0, 3), {5e-3, 1}})
            for (const int major : majors()) {
                const cuda::Image image = compiled(
                    attention_of(length, product_error), length, major);
                EXPECT_TRUE(image.plan.copies);
                EXPECT_EQ(image.plan.weight_parts, parts);
                const cuda::Resources* kernel =
                    image.resources_of("accumulate");
                EXPECT_EQ(kernel->spill_stores + kernel->spill_loads, 0)
                    << length << " of sm_" << major << "0";
                const Loop tile = smallest_loop(image, "accumulate", "HMMA");
                EXPECT_EQ(tile.count("HMMA"), 64 + 64 * parts);
                EXPECT_EQ(tile.count("LDSM"), length / 4);
                EXPECT_EQ(tile.count("LDGSTS"), 2 * length / 32);
            }
}

TEST(Nvrtc, CardsWithoutTensorCoresMultiplyInRegisters) {
    CudaCase far = gaussian_case(64);
    far.product_error = 1e-5;
    for (const CudaCase& each : {far, attention_of(64, 5e-3)}) {
        const cuda::Image image = compiled(each, 64, 7, 5);
        EXPECT_FALSE(image.is_ptx);
        EXPECT_FALSE(image.plan.uses_value_matmul());
        EXPECT_LE(image.shape.shared_bytes, cuda::common_shared);
        EXPECT_EQ(instruction_count(image, "accumulate", "HMMA"), 0);
    }
}

/// They are compiled to PTX, which takes no ptxas.
TEST(Nvrtc, AcceptsEveryFormula) {
    std::vector<CudaCase> cases = formula_cases();
    cases.push_back(cuda_case(
        "special",
        "sum_j (polygamma(n_j, x_i) besseli(o_j, x_i) besselk(o_j, x_i) + "
        "besselj(o_j, x_i) bessely(o_j, x_i))",
        "n i8, o f32, x f32"));
    for (const CudaCase& each : cases) {
        if (!tests::in_sample(0.3, each.name))
            continue;
        const cuda::Image image = compiled(each, each.width, 19);
        EXPECT_FALSE(image.codes.empty()) << each.name;
    }
}

TEST(Nvrtc, MakesPtxForACardThatItDoesNotKnow) {
    const cuda::Image image = compiled(gaussian_case(3), 1, 19, 5);
    EXPECT_TRUE(image.is_ptx);
    EXPECT_EQ(image.architecture, "compute_121");
    EXPECT_NE(std::string(reinterpret_cast<const char*>(image.codes[0].data()))
                  .find(".entry accumulate"),
              std::string::npos);
}

TEST(Nvrtc, GivesTheSameBytesAgain) {
    EXPECT_EQ(compiled(gaussian_case(3), 1, 9).codes,
              compiled(gaussian_case(3), 1, 9).codes);
}

TEST(Nvrtc, SaysWhereItWasLookedFor) {
    cuda::Nvrtc nowhere({{"/nowhere"}, {"/nor/here"}, false});
    EXPECT_EQ(message_of([&] { nowhere.version(); }),
              "the compiler for GPUs, NVRTC, was not found in /nowhere, "
              "/nor/here\npip install nvidia-cuda-nvrtc, or set CUDA_HOME");
}

TEST(Nvrtc, RefusesACardThatIsTooOld) {
    EXPECT_EQ(message_of([&] { compiled(gaussian_case(3), 1, 3, 5); }),
              "a GPU of compute capability 3.5 is older than NVRTC 13.0 "
              "compiles for\ncompute this formula on the CPU, or install an "
              "older NVRTC");
}

TEST(Resources, AreReadFromTheLog) {
    const auto kernels = cuda::read_resources(
        "ptxas info    : 0 bytes gmem\n"
        "ptxas info    : Compiling entry function 'finish' for 'sm_90'\n"
        "ptxas info    : Function properties for finish\n"
        "    16 bytes stack frame, 8 bytes spill stores, 4 bytes spill loads\n"
        "ptxas info    : Used 80 registers, used 1 barriers, 16 bytes stack, "
        "2048 bytes smem\n"
        "ptxas info    : Compile time = 5.000 ms\n");
    ASSERT_EQ(kernels.size(), 1u);
    const cuda::Resources expected{"finish", 80, 16, 8, 4, 2048};
    EXPECT_EQ(kernels[0], expected);
}

} // namespace
} // namespace tilefold::tests
