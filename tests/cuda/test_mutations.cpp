// tests/cuda/test_mutations.cpp - kernels with one barrier less, or one index
// wrong: running them on the host must tell.

#include "tests/cuda/cases.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include <sys/wait.h>
#include <unistd.h>

namespace tilefold::tests {
namespace {

/// The text `from`, its occurrence `number` in the kernels, becomes `to`.
struct Mutation {
    const char *formula, *arguments, *from, *to;
    int number = 0;
};

constexpr const char* barrier = "__syncthreads();";
constexpr const char* gaussian = "sum_j exp(-|x_i - y_j|²/2l²) b_j";
constexpr const char* nearest = "argmin_j |x_i - y_j|²";
constexpr const char* points = "x f32[3], y f32[3], b f32, l f64";

constexpr Mutation mutations[] = {
    // The task is replaced while threads still read it; read before it is
    // there; the tile likewise.
    {gaussian, points, barrier, "", 0},
    {gaussian, points, barrier, "", 1},
    {gaussian, points, barrier, "", 2},
    {gaussian, points, barrier, "", 3},
    {gaussian, points, "column.y[d]", "column.y[2 - d]"},
    {gaussian, points, "call.operands[3].component",
     "call.operands[2].component"},
    {nearest, "x f32[3], y f32[3]", "first + k)", "first + count - 1 - k)"},
    {gaussian, points, "task.first_row + r * threads + threadIdx.x",
     "task.first_row + r + threadIdx.x", 2},
    {gaussian, points, "at * call.segments", "at"},
    {gaussian, points, "first + call.group", "first + 1"},
    {gaussian, points, "segment = of_segments.rest", "segment = 0"},
    {gaussian, points, "if (s == r)\n                    own",
     "if (s == r + 1)\n                    own"},
    {gaussian, points, "of_rows.rest", "of_rows.whole"},
    {nearest, "x f32[3], y f32[3]", "tile[k] = load",
     "tile[count - 1 - k] = load"},
    {nearest, "x f32[3], y f32[3]", "first + partial.column", "partial.column"},
    {"argmin_j floor(3|x_i - y_j|²)", "x f32[3], y f32[3]",
     "comes_before(from.index, state.index)",
     "comes_before(state.index, from.index)"},
    {"argmin_ij |x_i - y_j|²", "x f32[3], y f32[3]", "at * call.columns", "at"},
    {"softmax_j(x_i·y_j, b_j)", "x f32[3], y f32[3], b f32[2]",
     "place + (k + 2) * stride", "place + (k + 1) * stride"},
    {"sum_j x_i·y_j * b_j", "x f32[3], y f32[3], b f32[9]",
     "place.first_component + d < call.width", "true"},
    {"argkmin_j(|x_i - y_j|², 3)", "x f32[3], y f32[3]",
     "sink(partial.value, partial.column, x, k)",
     "sink(partial.value, partial.column, x, 0)"},
    {"exp(-|x_i - y_j|²)", "x f32[3], y f32[3]", "column * call.out_column",
     "column * call.out_row"},
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

/// Of the formula's functions, else of the loops.
void mutate(cuda::Source& source, const Mutation& mutation) {
    std::string& part = source.formula.find(mutation.from) == std::string::npos
                            ? source.loops
                            : source.formula;
    part = mutated(part, mutation);
}

/// Whether any size shows that something is wrong.
bool is_wrong(const HostModule& module, std::size_t number, const CudaCase& of,
              const HostKernels& kernels) {
    for (const RunSizes& sizes :
         {RunSizes{3, 70, 1, 3, 1}, RunSizes{300, 20, 2, 2, 2}}) {
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

TEST(CudaMutations, AreCaught) {
    std::vector<CudaCase> cases;
    std::vector<HostKernels> sound, broken;
    for (const Mutation& mutation : mutations) {
        cases.push_back(
            cuda_case("mutant", mutation.formula, mutation.arguments));
        sound.push_back(small_kernels(cases.back()));
        broken.push_back(sound.back());
        mutate(broken.back().emitted.source, mutation);
    }
    const HostModule healthy(sound), mutants(broken);
    for (std::size_t k = 0; k < cases.size(); ++k) {
        EXPECT_FALSE(is_caught(healthy, k, cases[k], sound[k]))
            << mutations[k].formula;
        EXPECT_TRUE(is_caught(mutants, k, cases[k], broken[k]))
            << mutations[k].from << " -> " << mutations[k].to << " in "
            << mutations[k].formula;
    }
}

} // namespace
} // namespace tilefold::tests
