// compiler/passes/narrowest_cut.cpp - a cut of values is one of edges, where
// each value is an edge from its entrance to its exit.

#include "compiler/passes/narrowest_cut.h"

#include "compiler/ir/queries.h"

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/edmonds_karp_max_flow.hpp>

namespace tilefold::ir {
namespace {

using Traits =
    boost::adjacency_list_traits<boost::vecS, boost::vecS, boost::directedS>;
using Edge = Traits::edge_descriptor;
struct Width {
    std::int64_t capacity = 0, residual = 0;
    Edge reverse;
};
using Network =
    boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS,
                          boost::no_property, Width>;

/// More than any vectors together have components.
constexpr std::int64_t unlimited = std::int64_t(1) << 50;

class Flow {
public:
    explicit Flow(std::size_t values)
        : network_(2 * values + 2), source_(2 * values), sink_(source_ + 1) {}

    static std::size_t entrance(ValueId id) { return 2 * std::size_t(id); }
    static std::size_t exit(ValueId id) { return entrance(id) + 1; }

    void enter(ValueId id) { connect(source_, entrance(id), unlimited); }
    void leave(ValueId id) { connect(exit(id), sink_, unlimited); }
    void read(ValueId by, ValueId operand) {
        connect(exit(operand), entrance(by), unlimited);
    }
    void pass(ValueId id, std::int64_t width) {
        connect(entrance(id), exit(id), width);
    }

    /// Says for each vertex whether more could flow there from the source.
    std::vector<bool> filled() {
        std::vector<boost::default_color_type> colours(num_vertices(network_));
        std::vector<Edge> ways(num_vertices(network_));
        boost::edmonds_karp_max_flow(
            network_, source_, sink_,
            boost::capacity_map(get(&Width::capacity, network_))
                .residual_capacity_map(get(&Width::residual, network_))
                .reverse_edge_map(get(&Width::reverse, network_))
                .color_map(colours.data())
                .predecessor_map(ways.data()));
        std::vector<bool> all;
        for (const auto colour : colours)
            all.push_back(colour != boost::white_color);
        return all;
    }

private:
    void connect(std::size_t from, std::size_t to, std::int64_t capacity) {
        const Edge there = add_edge(from, to, network_).first;
        const Edge back = add_edge(to, from, network_).first;
        network_[there] = {capacity, 0, back};
        network_[back] = {0, 0, there};
    }

    Network network_;
    std::size_t source_, sink_;
};

} // namespace

std::vector<ValueId> narrowest_cut(const Graph& graph,
                                   const CutQuestion& question) {
    const std::vector<bool> between =
        reached(graph, question.sinks, question.is_end);
    Flow flow(graph.nodes.size());
    for (ValueId id = 0; id < graph.nodes.size(); ++id) {
        if (!between[id])
            continue;
        const Node& node = graph[id];
        const bool is_source = question.is_source(id);
        flow.pass(id, is_source || question.is_kept(id)
                          ? components_of(node.type)
                          : unlimited);
        if (is_source)
            flow.enter(id);
        if (!question.is_end(id))
            for (ValueId operand : node.inputs())
                flow.read(id, operand);
    }
    for (ValueId sink : question.sinks)
        flow.leave(sink);
    const std::vector<bool> filled = flow.filled();
    std::vector<ValueId> cut;
    for (ValueId id = 0; id < graph.nodes.size(); ++id)
        if (between[id] && filled[Flow::entrance(id)] &&
            !filled[Flow::exit(id)])
            cut.push_back(id);
    return cut;
}

} // namespace tilefold::ir
