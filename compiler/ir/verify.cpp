// compiler/ir/verify.cpp - checks what ir.h says of every graph.

#include "compiler/ir/verify.h"

#include "compiler/ir/text.h"

#include <algorithm>
#include <bit>
#include <set>
#include <tuple>

namespace tilefold::ir {
namespace {

class Verifier {
public:
    explicit Verifier(const Graph& graph) : graph_(graph) {}

    void run() {
        check(graph_.real == DType::F32 || graph_.real == DType::F64,
              "the computing dtype is f32 or f64");
        check(graph_.result < graph_.nodes.size(), "the result is a value");
        check(graph_.nodes.size() <= most_nodes, "too many nodes");
        for (id_ = 0; id_ < graph_.nodes.size(); ++id_)
            check_node(graph_[id_]);
        id_ = no_value;
        check_use();
        check(next_argument_ == std::int64_t(graph_.arguments.size()),
              "an argument that nothing reads");
        check(next_literal_ == std::int64_t(graph_.literals.size()),
              "a literal that nothing reads");
        check_argument_axes();
    }

private:
    void check(bool holds, const char* what) const {
        if (holds)
            return;
        std::string where = id_ == no_value ? "" : "%" + std::to_string(id_);
        internal_error("broken graph" + (where.empty() ? "" : " at " + where) +
                       ": " + what);
    }

    void check_node(const Node& node) {
        check(int(node.arity) >= least_arity(node) &&
                  int(node.arity) <= most_arity(node),
              "wrong number of operands");
        for (std::size_t k = 0; k < node.operands.size(); ++k)
            check(k < node.arity ? node.operands[k] < id_
                                 : node.operands[k] == no_value,
                  "operands precede their users");
        check_attributes(node);
        check_numbering(node);
        check(seen_.insert(identity(node)).second, "a value made twice");
        check(infer_type(graph_, node) == node.type, "not the inferred type");
    }

    static int least_arity(const Node& node) {
        if (has_row(node.op))
            return row_of(node.op).arity;
        if (node.op == Op::Reduce)
            return reduction_arity(node).first;
        if (node.op == Op::Concat)
            return 2;
        return node.op == Op::IntPow || node.op == Op::Slice ||
               node.op == Op::Submatrix || node.op == Op::Broadcast;
    }

    static int most_arity(const Node& node) {
        return node.op == Op::Reduce ? reduction_arity(node).second
                                     : least_arity(node);
    }

    /// K is an attribute, not an operand; a lower bound of the body may be one
    /// more.
    static std::pair<int, int> reduction_arity(const Node& node) {
        const ReductionRow& row = row_of(Reduction(node.first));
        if (row.monoid == Monoid::UserDefined)
            return {2, 3};
        if (row.monoid == Monoid::KMinimum)
            return {row.least - 1, row.most};
        return {row.least, row.most};
    }

    void check_attributes(const Node& node) const {
        if (node.op == Op::Reduce) {
            const ReductionRow& row = row_of(Reduction(node.first));
            check(node.second >= 1 && node.second <= 3, "reduced axes");
            check((row.monoid == Monoid::KMinimum) == (node.third > 0), "K");
        }
        check(node.op == Op::Reduce || node.pairs == Pairs::All,
              "only a reduction chooses pairs");
        const bool folds =
            node.op == Op::Reduce && Reduction(node.first) == Reduction::Fold;
        check(folds == bool(node.fold), "a fold has its monoid");
        if (folds)
            check_fold(*node.fold);
        if (node.op == Op::Index)
            check(node.type.axes == Axes::I || node.type.axes == Axes::J,
                  "an index has one axis");
        if (node.op == Op::Argument)
            check(node.type.axes != Axes::IJ, "an argument is read on an axis");
    }

    /// Checks that a fold accumulates in the computing dtype and merges in
    /// F64.
    void check_fold(const Fold& fold) const {
        check(fold.accumulate.real == graph_.real, "a fold's dtype");
        check(fold.merge.real == DType::F64, "states are merged in f64");
        for (const Graph* graph : {&fold.accumulate, &fold.merge}) {
            verify(*graph);
            check(graph->literals.empty(), "a fold is given its numbers");
            for (const Argument& argument : graph->arguments)
                check(std::ranges::count(fold_arguments, argument.name) == 1,
                      "an argument that no fold has");
        }
    }

    void check_numbering(const Node& node) {
        if (node.op == Op::Argument)
            check_first_use(node.first, next_argument_,
                            graph_.arguments.size());
        if (node.op != Op::Literal)
            return;
        check_first_use(node.first, next_literal_, graph_.literals.size());
        check(graph_.literals[std::size_t(node.first)] >= 0,
              "a literal has no sign");
    }

    void check_first_use(std::int64_t number, std::int64_t& next,
                         std::size_t count) const {
        check(number >= 0 && number <= next && number < std::int64_t(count),
              "numbered by first use");
        if (number == next)
            ++next;
    }

    using Identity =
        std::tuple<Op, std::array<ValueId, 3>, std::int64_t, std::int64_t,
                   std::int64_t, std::uint64_t, Pairs, Axes, std::string>;

    static Identity identity(const Node& node) {
        const bool leaf = node.op == Op::Argument || node.op == Op::Index;
        return {node.op,
                node.operands,
                node.first,
                node.second,
                node.third,
                std::bit_cast<std::uint64_t>(node.value),
                node.pairs,
                leaf ? node.type.axes : Axes::None,
                node.fold
                    ? print(node.fold->accumulate) + print(node.fold->merge)
                    : std::string()};
    }

    void check_use() const {
        std::vector<bool> used(graph_.nodes.size());
        used[graph_.result] = true;
        for (std::size_t k = graph_.nodes.size(); k-- > 0;) {
            check(used[k], "a value that nothing uses");
            for (ValueId id : graph_.nodes[k].inputs())
                used[id] = true;
        }
    }

    void check_argument_axes() const {
        std::vector<Axes> read(graph_.arguments.size(), Axes::None);
        for (const Node& node : graph_.nodes)
            if (node.op == Op::Argument) {
                Axes& axes = read[std::size_t(node.first)];
                axes = axes | node.type.axes;
            }
        for (std::size_t k = 0; k < read.size(); ++k)
            check(read[k] == graph_.arguments[k].axes,
                  "an argument's axes are where it is read");
    }

    const Graph& graph_;
    ValueId id_ = no_value;
    std::int64_t next_argument_ = 0, next_literal_ = 0;
    std::set<Identity> seen_;
};

} // namespace

void verify(const Graph& graph) {
    Verifier(graph).run();
}

} // namespace tilefold::ir
