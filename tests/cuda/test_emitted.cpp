// tests/cuda/test_emitted.cpp - every emitted kernel against the interpreter,
// at the edges of tiles and blocks, under several orders of threads.

#include "tests/cuda/cases.h"
#include "tests/sample.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace tilefold::tests {
namespace {

/// Fewer where the graph has one column, or one point at all.
RunSizes sizes_of(const CudaCase& of, RunSizes sizes) {
    if (of.single_column)
        sizes.columns = 1;
    if (of.single_row)
        sizes.rows = 1;
    const bool reduces =
        std::ranges::count(of.graph.nodes, ir::Op::Reduce, &ir::Node::op);
    if (!reduces && of.graph[of.graph.result].type.axes == Axes::None)
        sizes.rows = 1;
    return sizes;
}

/// Compiles all of the sample in one go, runs all.
void expect_agreement(std::vector<CudaCase> cases,
                      std::int64_t most_rows = 131) {
    std::erase_if(cases, [](const CudaCase& each) {
        return !tests::in_sample(0.2, each.name);
    });
    std::vector<HostKernels> kernels;
    for (const CudaCase& c : cases)
        kernels.push_back(small_kernels(c));
    const HostModule module(kernels);
    const RunSizes all[] = {
        {1, 0, 1, 1, 1},    {3, 5, 1, 1, 1},  {2, 17, 3, 2, 2},
        {131, 16, 1, 1, 3}, {7, 70, 1, 3, 2}, {33, 150, 1, 1, 2},
    };
    for (std::size_t k = 0; k < cases.size(); ++k)
        for (const RunSizes& some : all) {
            if (some.rows > most_rows)
                continue;
            const RunSizes sizes = sizes_of(cases[k], some);
            const auto run = [&](int order) {
                return run_kernels(module, k, cases[k], kernels[k], sizes,
                                   order);
            };
            const std::string results = run(0);
            EXPECT_EQ(compare(cases[k], sizes, results), "")
                << cases[k].name << " " << sizes.rows << " × " << sizes.columns;
            EXPECT_TRUE(results == run(1) && results == run(7))
                << cases[k].name << ": bits depend on the order of threads";
        }
}

TEST(Emitted, FormulasAgreeWithTheInterpreter) {
    expect_agreement(formula_cases());
}

TEST(Emitted, EveryRowOfTheTablesAgrees) {
    expect_agreement(table_cases());
}

TEST(Emitted, TilesOfPairsAgree) {
    const std::vector<CudaCase> cases = product_cases();
    for (const CudaCase& each : cases)
        EXPECT_NE(small_kernels(each).plan.multiply, cuda::Multiply::Alone)
            << each.name;
    expect_agreement(cases);
}

TEST(Emitted, SumsOfWeightedVectorsAgree) {
    const std::vector<CudaCase> cases = wide_cases();
    for (const CudaCase& each : cases)
        EXPECT_TRUE(small_kernels(each).plan.uses_value_matmul()) << each.name;
    expect_agreement(cases);
}

TEST(Emitted, ChosenPairsAgree) {
    expect_agreement(chosen_cases());
}

std::vector<CudaCase> of_column_parallel(std::vector<CudaCase> cases) {
    std::erase_if(cases, [](const CudaCase& each) {
        return std::ranges::none_of(each.graph.nodes, [](const ir::Node& node) {
            return node.op == ir::Op::Reduce;
        });
    });
    for (CudaCase& each : cases)
        each.column_parallel = true;
    return cases;
}

TEST(Emitted, KernelsForFewRowsAgree) {
    for (const auto& all : {formula_cases(), edge_cases(), random_cases(7, 8)})
        expect_agreement(of_column_parallel(all), 7);
}

TEST(Emitted, EdgesOfReductionsAgree) {
    expect_agreement(edge_cases());
}

TEST(Emitted, RandomGraphsAgree) {
    expect_agreement(random_cases(1, 40));
}

} // namespace
} // namespace tilefold::tests
