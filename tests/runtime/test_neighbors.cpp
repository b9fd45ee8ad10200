// tests/runtime/test_neighbors.cpp - lists of the pairs within a radius.
#include "runtime/solve/neighbors.h"
#include "tests/runtime/session_fixture.h"

#include <cmath>
#include <gtest/gtest.h>
#include <vector>

namespace tilefold::test {
namespace {

using Numbers = std::vector<std::int64_t>;

struct Found {
    Numbers starts, columns;
    std::vector<double> values;
};

Found taken(PairsWithin found, bool with_values) {
    Found all{Numbers(std::size_t(found.rows() + 1)),
              Numbers(std::size_t(found.size())),
              std::vector<double>(with_values ? std::size_t(found.size()) : 0)};
    found.write_starts(all.starts);
    found.take(all.columns, all.values.data());
    return all;
}

} // namespace

using Neighbors = SessionTest;

TEST_F(Neighbors, AreThePairsOfADoubleLoop) {
    const Formula pair = session.formula("|x_i - y_j|");
    const Values<double> x({90, 3}), y({20'000, 3}, 2); // two panels
    const NamedView arguments[] = {named("x", x), named("y", y)};
    const Found found = taken(pairs_within(pair, arguments, 0.3, true), true);
    Found wanted{{0}, {}, {}};
    for (std::int64_t i = 0; i < 90; ++i) {
        for (std::int64_t j = 0; j < 20'000; ++j) {
            double square = 0;
            for (std::int64_t d = 0; d < 3; ++d)
                square += std::pow(x.at(i, d) - y.at(j, d), 2);
            if (std::sqrt(square) > 0.3)
                continue;
            wanted.columns.push_back(j);
            wanted.values.push_back(std::sqrt(square));
        }
        wanted.starts.push_back(std::int64_t(wanted.columns.size()));
    }
    EXPECT_EQ(found.starts, wanted.starts);
    EXPECT_EQ(found.columns, wanted.columns);
    for (std::size_t k = 0; k < wanted.values.size(); ++k)
        EXPECT_NEAR(found.values[k], wanted.values[k], 1e-14);
}

TEST_F(Neighbors, WithoutValuesNoneAreKept) {
    const Formula pair = session.formula("|x_i - y_j|");
    const Values<float> x({5}), y({7}, 2);
    const NamedView arguments[] = {named("x", x), named("y", y)};
    PairsWithin found = pairs_within(pair, arguments, 9, false);
    EXPECT_EQ(found.size(), 35);
    EXPECT_TRUE(found.blocks[0].values.empty());
    EXPECT_EQ(taken(std::move(found), false).starts,
              (Numbers{0, 7, 14, 21, 28, 35}));
}

TEST_F(Neighbors, AreOfOneNumberAPair) {
    const Formula pair = session.formula("x_i - y_j");
    const Values<double> x({4, 3}), y({5, 3});
    const NamedView arguments[] = {named("x", x), named("y", y)};
    EXPECT_EQ(message_of([&] { pairs_within(pair, arguments, 1, false); }),
              "the neighbours of a kernel whose values have the shape "
              "(4, 5, 3)\ngive one distance for each pair, and no batch "
              "dimensions");
}

TEST_F(Neighbors, EndWhenThePollSaysSo) {
    const Formula pair = session.formula("|x_i - y_j|");
    const Values<double> x({60'000, 3}), y({60'000, 3}, 2);
    const NamedView arguments[] = {named("x", x), named("y", y)};
    double told = 0;
    const Poll poll = [&](double done, double total) {
        told = done;
        EXPECT_LE(done, total);
        return false;
    };
    const std::string message =
        message_of([&] { pairs_within(pair, arguments, 0.01, false, poll); });
    EXPECT_NE(message, "nothing thrown");
    EXPECT_GT(told, 0);
    EXPECT_LT(told, 3.6e9);
}

} // namespace tilefold::test
