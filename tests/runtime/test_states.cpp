// tests/runtime/test_states.cpp - states of parts of an axis through the C++
// interface: left, merged and finalised, they have the bits of one call.

#include "runtime/schedule/ranges.h"
#include "tests/runtime/session_fixture.h"

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace tilefold::test {
namespace {

constexpr std::int64_t segment = 32, rows = 21, columns = 1300;

using Points = std::pair<std::int64_t, std::int64_t>;

class StatesTest : public SessionTest {
protected:
    StatesTest() { segments.segment = segment; }

    /// Rows [first, last) of the columns' arrays.
    std::vector<NamedView> part(Points points) const {
        const auto rows_of = [&](const Values<double>& values) {
            View view = values.view();
            view.data = &values.values[std::size_t(
                points.first * (values.shape.size() == 2 ? 3 : 1))];
            view.shape[0] = points.second - points.first;
            return view;
        };
        return {named("x", x), named("y", rows_of(y)), named("b", rows_of(b))};
    }
    Bound bound(const std::string& text, Points points) const {
        BindOptions options;
        options.ranges = ranges;
        options.window = Window{{}, {points.first, columns}};
        return session.formula(text).with(segments).bind(part(points), options);
    }
    std::vector<double> state(const std::string& text, Points node) const {
        const Bound call = bound(text, node);
        std::vector<double> states(std::size_t(call.state_layout().elements()));
        call.leave(node.first, node.second, states.data());
        return states;
    }

    /// The result, in bytes: of one call, and of the states of two nodes.
    std::vector<std::byte> of_one_call(const std::string& text) const {
        BindOptions options;
        options.ranges = ranges;
        const Formula formula = session.formula(text).with(segments);
        const Bound call = formula.bind(part({0, columns}), options);
        return written(text, [&](const Output& out) { call.run({&out, 1}); });
    }
    std::vector<std::byte> of_nodes(const std::string& text) const {
        std::vector<double> left = state(text, {0, 32 * segment});
        const std::vector<double> right = state(text, {32 * segment, columns});
        const Bound call = bound(text, {0, columns});
        call.merge(left.data(), right.data());
        return written(text, [&](const Output& out) {
            call.finalise(left.data(), {&out, 1});
        });
    }
    template <class Write>
    std::vector<std::byte> written(const std::string& text, Write write) const {
        Array result = session.formula(text)(part({0, columns}));
        std::fill(result.bytes.begin(), result.bytes.end(), std::byte(1));
        write(Output::of(result.bytes.data(), result.dtype,
                         Extents(result.shape.begin(), result.shape.end())));
        return result.bytes;
    }

    Options segments;
    std::shared_ptr<const Ranges> ranges; ///< of all calls; null: all pairs
    Values<double> x{{rows, 3}}, y{{columns, 3}, 2}, b{{columns}, 3};
};

/// 41 segments, of which the last is short: the root is of 32 and 9.
TEST_F(StatesTest, NodesJoinToTheBitsOfOneCall) {
    for (const std::string text :
         {"sum_j exp(-|x_i - y_j|²) b_j", "logsumexp_j(x_i·y_j + b_j)",
          "mean_j x_i·y_j*b_j", "argmin_j(|x_i - y_j|² + b_j)",
          "sum_ij exp(-|x_i - y_j|²) b_j", "sum_j j*b_j*x_i·y_j"})
        EXPECT_EQ(of_nodes(text), of_one_call(text)) << text;
}

/// Ranges are of the whole axes, whatever part a call has: none of these begins
/// at a node, rows 9 to 11 meet nothing, and others nothing of one node.
TEST_F(StatesTest, NodesOfChosenPairsJoinToTheBitsOfOneCall) {
    TileList list;
    list.rows = {{0, 9}, {12, 18}, {18, rows}};
    list.first = {0, 2, 3, 4};
    list.columns = {{3, 70}, {900, 1290}, {1000, 1100}, {40, 500}};
    ranges = std::make_shared<const Ranges>(Extents{}, std::vector{list});
    for (const std::string text :
         {"sum_j exp(-|x_i - y_j|²) b_j", "logsumexp_j(x_i·y_j + b_j)",
          "argmin_j(|x_i - y_j|² + b_j)", "sum_j j*b_j*x_i·y_j"})
        EXPECT_EQ(of_nodes(text), of_one_call(text)) << text;
}

/// However a node is cut for threads, it is joined as two halves are.
TEST_F(StatesTest, ANodeIsItsHalves) {
    const std::string text = "sum_j exp(-|x_i - y_j|²) b_j";
    const std::vector<double> node = state(text, {0, 8 * segment});
    std::vector<double> left = state(text, {0, 4 * segment});
    const std::vector<double> right = state(text, {4 * segment, 8 * segment});
    bound(text, {0, 8 * segment}).merge(left.data(), right.data());
    for (std::int64_t r = 0; r < rows; ++r)
        EXPECT_EQ(left[std::size_t(r)], node[std::size_t(r)]);
}

/// Threads share columns where rows are few, in pieces that are nodes.
TEST_F(StatesTest, PiecesAreNodes) {
    constexpr std::int64_t points = 70000, long_segment = 1024;
    constexpr std::int64_t middle = 64 * long_segment;
    const Values<double> values({points}, 7);
    Options options;
    options.segment = long_segment;
    const Formula formula =
        session.formula("sum_j exp(-|x_i[0] - b_j|²) b_j").with(options);
    const auto bound_part = [&](Points part) {
        View view = values.view();
        view.data = &values.values[std::size_t(part.first)];
        view.shape[0] = part.second - part.first;
        BindOptions bind;
        bind.window = Window{{}, {part.first, points}};
        return formula.bind(std::array{named("x", x), named("b", view)}, bind);
    };
    const auto left_of = [&](Points part) {
        const Bound call = bound_part(part);
        std::vector<double> states(std::size_t(call.state_layout().elements()));
        call.leave(part.first, part.second, states.data());
        return states;
    };
    std::vector<double> left = left_of({0, middle});
    const std::vector<double> right = left_of({middle, points});
    const std::vector<double> whole = left_of({0, points});
    bound_part({0, points}).merge(left.data(), right.data());
    for (std::int64_t r = 0; r < rows; ++r)
        EXPECT_EQ(left[std::size_t(r)], whole[std::size_t(r)]);
}

TEST_F(StatesTest, LayoutsSayWhatStatesAreOf) {
    const Bound call = bound("argmin_j(|x_i - y_j|² + b_j)", {64, 96});
    const StateLayout layout = call.state_layout();
    EXPECT_EQ(layout.rows, rows);
    EXPECT_EQ(layout.slots, 2);
    EXPECT_EQ(layout.stride % 8, 0);
    EXPECT_EQ(layout.reduced, Axes::J);
    EXPECT_EQ(layout.kept, Axes::I);
    EXPECT_EQ(layout.first, 64);
    EXPECT_EQ(layout.count, 32);
    EXPECT_EQ(layout.total, columns);
    EXPECT_EQ(layout.segment, segment);
    EXPECT_FALSE(layout.folds);
}

TEST_F(StatesTest, SeveralPassesHaveNone) {
    EXPECT_EQ(message_of([&] {
                  bound("var_j x_i·y_j*b_j", {0, columns}).state_layout();
              }),
              "the option formula cannot be one that takes several passes over "
              "the pairs, and states are of one\ncompute what it needs of all "
              "points by reductions of their own, and pass their results as "
              "arguments");
}

TEST_F(StatesTest, PlacesAreOnTheirAxis) {
    EXPECT_EQ(
        message_of([&] {
            BindOptions options;
            options.window = Window{{}, {1290, columns}};
            session.formula("sum_j x_i·y_j*b_j")
                .with(segments)
                .bind(part({0, 20}), options);
        }),
        "the option j cannot be (1290, 1300) of 20 points\npass the number "
        "of the first of them, and how many points the whole axis has");
}

} // namespace
} // namespace tilefold::test
