// tests/compiler/test_random_graphs.cpp - random graphs keep their numbers
// and their invariants through the passes.

#include "compiler/ir/text.h"
#include "compiler/ir/verify.h"
#include "compiler/passes/passes.h"
#include "tests/compiler/random_graph.h"

#include <gtest/gtest.h>

namespace tilefold::tests {
namespace {

constexpr std::uint64_t seeds = 1000;

TEST(RandomGraphs, ArePassedThroughUnharmed) {
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        const ir::Graph graph = random_graph(seed);
        ir::verify(graph);
        const auto wanted = all_results(graph, seed);
        for (auto pass : {ir::simplify, ir::canonicalise}) {
            const ir::Graph after = pass(graph);
            ir::verify(after);
            ASSERT_EQ(difference(wanted, all_results(after, seed), 1e-12), "")
                << "seed " << seed << "\n"
                << ir::print(graph) << "\n"
                << ir::print(after);
        }
    }
}

TEST(RandomGraphs, AreOrientedUnharmed) {
    for (std::uint64_t seed = 0; seed < seeds / 4; ++seed) {
        const ir::Graph graph = random_graph(seed);
        const ir::Oriented turned = ir::orient(graph);
        ir::verify(turned.graph);
        reference::Sizes sizes{3, 4, 2};
        if (turned.swapped)
            std::swap(sizes.rows, sizes.columns);
        if (turned.single_column)
            sizes.columns = 1;
        if (turned.single_row)
            sizes.rows = 1;
        ASSERT_EQ(difference(all_results(graph, seed),
                             all_results(turned.graph, seed, sizes), 1e-12),
                  "")
            << "seed " << seed << "\n"
            << ir::print(graph);
    }
}

} // namespace
} // namespace tilefold::tests
