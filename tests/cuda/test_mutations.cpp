// tests/cuda/test_mutations.cpp - kernels with one barrier less, or one index
// wrong: running them on the host must tell.

#include "tests/compiler/support.h"
#include "tests/cuda/cases.h"
#include "tests/sample.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <span>
#include <stdexcept>

#include <sys/wait.h>
#include <unistd.h>

namespace tilefold::tests {
namespace {

/// The text `from`, its occurrence `number` in the kernels, becomes `to`.
struct Mutation {
    const char *formula, *arguments, *from, *to;
    int number = 0;
    double product_error = 0;
    Mode mode = Mode::Reduce;
    bool column_parallel = false;
};

constexpr const char* barrier = "__syncthreads();";
constexpr const char* gaussian = "sum_j exp(-|x_i - y_j|²/2l²) b_j";
constexpr const char* nearest = "argmin_j |x_i - y_j|²";
constexpr const char* points = "x f32[3], y f32[3], b f32, l f64";

constexpr const char* long_points = "x f32[40], y f32[40], b f32, l f64";
constexpr const char* dot = "sum_j (x_i·y_j)³ b_j";
// Every other argument lies backwards: of these, values are copied 16 bytes a
// time; keys; and neither.
constexpr const char* attention = "softmax_j(9(q_i·k_j), v_j)";
constexpr const char* tokens = "q bf16[32], k bf16[32], v bf16[16]";
constexpr const char* biased = "softmax_j(a_i + 9(q_i·k_j), v_j)";
constexpr const char* biases = "a f32, q bf16[32], k bf16[32], v bf16[16]";
constexpr const char* floats = "q bf16[32], k bf16[32], v f32[100]";
constexpr const char* halves = "x bf16[40], y bf16[40], b f32";

constexpr Mutation mutations[] = {
    // The tile is replaced while threads still read it; read before it is
    // there; the task and offsets likewise.
    {gaussian, points, barrier, "", 0},
    {gaussian, points, barrier, "", 1},
    {gaussian, points, barrier, "", 2},
    {gaussian, points, "__syncthreads(); // the offsets are there", ""},
    {gaussian, points, "+ offset_of(call, batch, operand)", ""},
    {gaussian, points, "offset_of(call, place.batch, operand_count)", "0"},
    {gaussian, points, "offset += at.rest", "offset += at.whole"},
    {gaussian, points, "column.y[d]", "column.y[2 - d]"},
    {gaussian, points, "call.operands[3].component",
     "call.operands[2].component"},
    {nearest, "x f32[3], y f32[3]", "first + k)", "first + count - 1 - k)"},
    {gaussian, points, "r * threads + int(threadIdx.x)",
     "r + int(threadIdx.x)"},
    {gaussian, points, "+ row) * call.segments", "+ row)"},
    {gaussian, points, "first + call.group", "first + 1"},
    {gaussian, points, "return blockIdx.y * call.segment", "return 0"},
    {gaussian, points, "move_up(state);", ""},
    {gaussian, points, "move_up(row);", ""},
    {gaussian, points, "held[s - 1] = held[s]", "held[s] = held[s]"},
    {gaussian, "x f32[16], y f32[16], b f32, l f64",
     "at + u * int(sizeof(Column))", "at"},
    {gaussian, points, "(before + min(row, kept - 1))", "min(row, kept - 1)"},
    {nearest, "x f32[3], y f32[3]", "tile[k] = load",
     "tile[count - 1 - k] = load"},
    {nearest, "x f32[3], y f32[3]", "first + partial.column", "partial.column"},
    {"argmin_j floor(3|x_i - y_j|²)", "x f32[3], y f32[3]",
     "comes_before(from.index, state.index)",
     "comes_before(state.index, from.index)"},
    {"argmin_ij |x_i - y_j|²", "x f32[3], y f32[3]",
     "(call.first_row + row) * call.all_columns", "row"},
    // Columns in pieces.
    {gaussian, points, "column_number(call, first + k)", "first + k"},
    {gaussian, points, "call.first_segment + blockIdx.y", "blockIdx.y"},
    {nearest, "x f32[3], y f32[3]", "before + call.first_column", "before"},
    {"softmax_j(x_i·y_j, b_j)", "x f32[3], y f32[3], b f32[2]",
     "place + (k + 2) * stride", "place + (k + 1) * stride"},
    {"sum_j x_i·y_j * b_j", "x f32[3], y f32[3], b f32[9]",
     "d < place.components", "true"},
    {"argkmin_j(|x_i - y_j|², 3)", "x f32[3], y f32[3]",
     "sink(partial.value, partial.column, x, k)",
     "sink(partial.value, partial.column, x, 0)"},
    {"exp(-|x_i - y_j|²)", "x f32[3], y f32[3]", "first * call.out_column",
     "first * call.out_row"},
    {"exp(-|x_i - y_j|²)", "x f32[3], y f32[3]", "c * threads * call",
     "c * call"},
    {"exp(-|x_i - y_j|²)", "x f32[3], y f32[3]", "gridDim.y * rows_per_thread",
     "2 * gridDim.y * rows_per_thread"},
};

constexpr const char* squares = "sum_ij |x_i - y_j|²";

/// Returns a mutation of a kernel for few rows.
constexpr Mutation few(const char* formula, const char* from, const char* to) {
    const char* both = "x f32[3], y f32[3]";
    return {formula,
            formula == gaussian ? points : both,
            from,
            to,
            0,
            0,
            Mode::Reduce,
            true};
}

constexpr Mutation merge_mutations[] = {
    few(gaussian, "merge_lanes(constants, state, 32)",
        "merge_lanes(constants, state, 16)"),
    few(gaussian, "__syncthreads();\n    if (threadIdx.x > 0)",
        "if (threadIdx.x > 0)"),
    few(gaussian, "of_warps[warp]", "of_warps[0]"),
    few(gaussian, "shared.of_warps[r]", "shared.of_warps[0]"),
    few(gaussian, "if (begun + u * threads < count)", "if (true)"),
    {gaussian, long_points, "begun += step", "begun += step + 1", 0, 0,
     Mode::Reduce, true},
    few(gaussian, "row >= call.rows", "row > call.rows"),
    {gaussian, points, "move_up(state);", "", 1, 0, Mode::Reduce, true},
    few(nearest, "add(constants, row[r], column[u], begun + u * threads,",
        "add(constants, row[r], column[u], begun,"),
    few(squares, "call.segments + call.first_segment +", "call.segments +"),
    few(squares, "blockIdx.x * call.segments +", "blockIdx.x +"),
    few(squares, "run * call.groups + k,", "k,"),
    {squares, "x f32[3], y f32[3]", "own_row(task, r) >= last_row_of",
     "own_row(task, r) > last_row_of"},
    {squares, "x f32[3], y f32[3]", "merge(constants, state[r], state[0])",
     "merge(constants, state[r], state[r])"},
    {squares, "x f32[3], y f32[3]", "first + threadIdx.x % lanes", "first"},
    {squares, "x f32[40], y f32[40]", "first_row_of(task) + block_row(r) >=",
     "first_row_of(task) + block_row(r) >"},
    {"sum_i |x_i|²", "x f32[3]", "begun + u * threads < count", "true"},
    {"sum_i |x_i|²", "x f32[3]", "first + min(begun", "min(begun"},
    {"argmax_i |x_i|²", "x f32[3]", "pair_number(call, first, 0)", "0"},
};

constexpr Mutation tile_mutations[] = {
    // Tiles of pairs. The columns' addresses are read before they are there,
    // the centre likewise; the task and the chunk as above.
    {gaussian, long_points, barrier, "", 0},
    {gaussian, long_points, barrier, "", 1, 3e-7},
    {gaussian, long_points, barrier, "", 3},
    {gaussian, long_points, barrier, "", 4},
    {gaussian, long_points, "columns + tile_columns - 1", "columns"},
    {gaussian, long_points, "if (from)\n            __syncthreads();", ""},
    {gaussian, long_points, "min(k, count - 1)", "min(k, count)"},
    {gaussian, long_points, "addresses[column]", "addresses[0]"},
    {gaussian, long_points, "r / 4 * 16", "r / 4 * 8"},
    {gaussian, long_points, "columns[c / 4].at[c % 4]", "columns[0].at[c % 4]"},
    {gaussian, long_points, "merge_lanes(constants, state[r], row_lanes);", ""},
    {gaussian, long_points, "k >= count", "k > count"},
    {gaussian, long_points, "norm_of(four, norm[n])", "norm_of(four, 0.0f)", 0,
     1e-6},
    {gaussian, long_points, "sum_of_lanes(norm[n], chunk_groups)", "norm[n]", 0,
     1e-6},
    {gaussian, long_points, "*= -2.0f", "*= 2.0f", 0, 1e-6},
    {gaussian, long_points, "vectors.right_norm[k]", "vectors.right_norm[0]", 0,
     1e-6},
    {gaussian, long_points, "low[m], right_high", "high[m], right_high", 0,
     1e-6},
    {gaussian, long_points, "high[m], right_low", "high[m], right_high", 0,
     1e-6},
    {dot, halves, "c / 2 * 8", "c / 2 * 4"},
    {dot, halves, "row / 8 % 2 + word % 2 * left_apart",
     "word % 2 + row / 8 % 2 * left_apart"},
    {dot, halves, "column % 8 * 4 + word % 8 / 2",
     "word % 8 / 2 * 8 + column % 8"},
    {dot, halves, "c % 2;", "0;"},
    {gaussian, long_points, "x[0][m].at, y[low].at", "x[0][m].at, y[0].at", 0,
     1e-5},
};

constexpr Mutation wide_mutations[] = {
    // Weights times values.
    {attention, tokens, "fma(held, shrink,", "fma(held, 1.0,"},
    {attention, tokens, "held = *slot", "held = 0.0"},
    {attention, tokens, "rows.sum[r][v] *= shrink[r]",
     "rows.sum[r][v] *= 1.0f"},
    {attention, tokens, "rows.weight[r] *= double(shrink[r])",
     "rows.weight[r] *= 1.0"},
    {attention, tokens, "of_lane(maximum[r], apart)", "maximum[r]"},
    {attention, tokens, "weight += of_lane(weight, apart)", "weight += weight"},
    {attention, tokens, "tile_column(c) >= count", "tile_column(c) > count"},
    {attention, tokens, "c = 4 * s + q / 2 * 2", "c = 4 * s + q % 2 * 2"},
    // Vectors as they lie, copied while others are multiplied.
    {biased, biases, "ptx_wait_for_copies();", "", 0},
    {attention, tokens, "ptx_wait_for_copies();", "", 1},
    {attention, tokens, "__syncthreads(); // keys are there", "// keys"},
    {attention, tokens, "__syncthreads(); // values are there", "// values"},
    {attention, tokens, "__syncthreads();\n    begin_tile", "begin_tile"},
    {attention, tokens, "both[(number + 1) % 2]", "both[number % 2]"},
    {attention, tokens, "both[number % 2]", "both[0]"},
    {attention, tokens, "lane % 16) * value_stride",
     "lane % 8) * value_stride"},
    {attention, tokens, "(tile + lane / 16) * 8", "tile * 8"},
    {attention, tokens, "q * from.step", "2 * q"},
    {biased, biases, "at % 2 * 8", "at % 2 * 4"},
    {attention, tokens, "v / 2 * 8 + int(threadIdx.x) % 4 * 2 + v % 2", "v"},
    // Values as sums of bfloat16.
    {attention, floats, "__syncthreads(); // the last tile has been read", ""},
    {attention, floats, "k % 2 + k / 2 * 8", "k / 2 * 8"},
    {attention, floats, "k / 2 * 8", "k / 2 * 4"},
    {attention, floats, "columns[2 * half]", "columns[half]"},
    {attention, floats, "next_part<halves>(lower, upper)",
     "ptx_two_bf16(lower, upper)"},
    {attention, floats, "next_part<halves>(lower, upper)",
     "ptx_two_bf16(lower, upper)", 1},
    {attention, floats, "block % 8 * 4 +", "block % 4 * 8 +"},
    {attention, floats, "tile / value_block * 8 + g", "g"},
    {attention, floats, "tile % value_block", "0"},
};

std::string mutated(std::string text, const Mutation& mutation) {
    std::size_t at = text.find(mutation.from);
    for (int k = 0; k < mutation.number && at != std::string::npos; ++k)
        at = text.find(mutation.from, at + 1);
    if (at == std::string::npos)
        throw std::logic_error(std::string("nothing to mutate: ") +
                               mutation.from);
    return text.replace(at, std::string(mutation.from).size(), mutation.to);
}

/// Mutates the formula's functions, else the kernels, else what both call.
void mutate(cuda::Source& source, const Mutation& mutation) {
    for (std::string* part : {&source.formula, &source.loops, &source.tasks,
                              &source.ends, &source.frame})
        if (part->find(mutation.from) != std::string::npos) {
            *part = mutated(*part, mutation);
            return;
        }
    throw std::logic_error(std::string("nothing to mutate: ") + mutation.from);
}

/// Whether any size shows that something is wrong.
bool is_wrong(const HostModule& module, std::size_t number, const CudaCase& of,
              const HostKernels& kernels) {
    for (RunSizes sizes : {RunSizes{3, 70, 1, 3, 1}, RunSizes{300, 20, 2, 2, 2},
                           RunSizes{40, 150, 1, 1, 2}}) {
        if (of.single_column)
            sizes.columns = 1;
        if (of.single_row)
            sizes.rows = 1;
        const std::string results =
            run_kernels(module, number, of, kernels, sizes, 0);
        if (!compare(of, sizes, results).empty() ||
            results != run_kernels(module, number, of, kernels, sizes, 1))
            return true;
    }
    return false;
}

/// The same in a process of its own, which a forbidden page may end.
bool is_caught(const HostModule& module, std::size_t number, const CudaCase& of,
               const HostKernels& kernels) {
    const pid_t child = fork();
    if (child == 0) {
        try {
            _exit(is_wrong(module, number, of, kernels) ? 1 : 0);
        } catch (const std::runtime_error&) {
            _exit(1); // threads part at a barrier
        }
    }
    int status = 0;
    waitpid(child, &status, 0);
    return !WIFEXITED(status) || WEXITSTATUS(status) != 0;
}

constexpr Mutation chosen_mutations[] = {
    {gaussian, points, "call.intervals[k].first",
     "call.intervals[task.rows.first_interval].first", 0, 0, Mode::Chosen},
    {gaussian, points, "return chooses ? task.rows.last : call.rows",
     "return call.rows", 0, 0, Mode::Chosen},
    {gaussian, points, "task.place.batch * call.parts + ", "", 0, 0,
     Mode::Chosen},
    {gaussian, points, "call.intervals[k].last", "call.columns", 0, 0,
     Mode::Chosen},
};

CudaCase case_of(const Mutation& mutation) {
    if (mutation.mode == Mode::Reduce)
        return cuda_case("mutant", mutation.formula, mutation.arguments);
    Program program =
        program_of(mutation.formula, mutation.arguments, mutation.mode);
    return {"mutant", program.graph(), 2, 0, false};
}

/// A tenth of them, which differs from day to day.
std::vector<Mutation> of_the_sample(std::span<const Mutation> mutations) {
    std::vector<Mutation> some;
    std::ranges::copy_if(
        mutations, std::back_inserter(some), [](const Mutation& mutation) {
            return tests::in_sample(0.1, std::string(mutation.formula) +
                                             mutation.from + "/" +
                                             std::to_string(mutation.number));
        });
    return some;
}

CudaCase case_to_mutate(const Mutation& mutation) {
    CudaCase made = case_of(mutation);
    made.product_error = mutation.product_error;
    made.column_parallel = mutation.column_parallel;
    if (mutation.arguments == tokens || mutation.arguments == biases)
        made.width = 16;
    if (mutation.arguments == floats)
        made.width = 100;
    if (mutation.product_error > 0)
        made.tolerance = 10 * mutation.product_error;
    return made;
}

/// What was emitted, once for each kernel that is mutated.
bool is_known(const std::vector<HostKernels>& sound, const HostKernels& made) {
    return std::ranges::any_of(sound, [&](const HostKernels& known) {
        return known.emitted.source.formula == made.emitted.source.formula &&
               known.emitted.source.loops == made.emitted.source.loops;
    });
}

void expect_caught(std::span<const Mutation> all) {
    const std::vector<Mutation> mutations = of_the_sample(all);
    if (mutations.empty())
        return;
    std::vector<CudaCase> cases, sound_cases;
    std::vector<HostKernels> sound, broken;
    for (const Mutation& mutation : mutations) {
        cases.push_back(case_to_mutate(mutation));
        const HostKernels made = small_kernels(cases.back());
        if (!is_known(sound, made)) {
            sound.push_back(made);
            sound_cases.push_back(cases.back());
        }
        broken.push_back(made);
        mutate(broken.back().emitted.source, mutation);
    }
    const HostModule healthy(sound), mutants(broken);
    for (std::size_t k = 0; k < sound.size(); ++k)
        EXPECT_FALSE(is_caught(healthy, k, sound_cases[k], sound[k]))
            << "unmutated kernels of mutations of " << mutations[0].formula;
    for (std::size_t k = 0; k < cases.size(); ++k)
        EXPECT_TRUE(is_caught(mutants, k, cases[k], broken[k]))
            << mutations[k].from << " -> " << mutations[k].to << " in "
            << mutations[k].formula;
}

TEST(CudaMutations, AreCaught) {
    expect_caught(mutations);
}

TEST(CudaMutations, OfStatesThatAreMergedAreCaught) {
    expect_caught(merge_mutations);
}

TEST(CudaMutations, OfTilesOfPairsAreCaught) {
    expect_caught(tile_mutations);
}

TEST(CudaMutations, OfChosenPairsAreCaught) {
    expect_caught(chosen_mutations);
}

TEST(CudaMutations, OfWeightedVectorsAreCaught) {
    expect_caught(wide_mutations);
}

} // namespace
} // namespace tilefold::tests
