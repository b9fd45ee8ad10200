// compiler/backends/llvm/fission.cpp - a long chain of functions of a vector,
// in several loops over its components.
//
// A function's chain of operations takes 20 to 60 cycles, and a processor looks
// ahead a few hundred instructions: of thirty functions in one loop, hardly
// two components overlap. So the loop is cut after every function or so, and
// what the next loop needs is kept in the first cache, for a strip of
// components at a time. (Loop fission, or distribution: Kennedy, McKinley,
// 1990.)

#include "compiler/backends/llvm/evaluate.h"

#include <algorithm>
#include <set>

namespace tilefold::llvm_backend {

using ir::Node;
using ir::ValueId;
using llvm::Value;

namespace {

constexpr std::int64_t strip = 16; // components

/// Issue slots of a loop's body, and of a chain that is worth cutting.
constexpr int body_slots = 16, long_chain = 96;

} // namespace

/// Where a vector's component is computed from components of the same number.
bool Evaluator::is_componentwise(ValueId id) const {
    const Node& node = graph_[id];
    return node.type.rank == 1 && node.type.dtype != DType::Bool &&
           node.arity > 0 && !leaves_.has(id) && ir::is_elementwise(node.op);
}

/// The functions below a contraction's operands, operands first, in groups of
/// about a body's slots; empty where they are few.
std::vector<std::vector<ValueId>> Evaluator::groups_below(ValueId id) const {
    std::vector<std::vector<ValueId>> groups(1);
    int slots = 0, all_slots = 0;
    std::set<ValueId> seen;
    const std::function<void(ValueId)> walk = [&](ValueId at) {
        if (!is_componentwise(at) || !seen.insert(at).second)
            return;
        for (ValueId operand : graph_[at].inputs())
            walk(operand);
        const int cost = graph_[at].op == ir::Op::IntPow
                             ? 2
                             : int(ir::row_of(graph_[at].op).cost);
        if (slots > 0 && slots + cost > body_slots) {
            groups.emplace_back();
            slots = 0;
        }
        groups.back().push_back(at);
        slots += cost;
        all_slots += cost;
    };
    for (ValueId operand : graph_[id].inputs())
        walk(operand);
    if (all_slots < long_chain)
        groups.clear();
    return groups;
}

/// Values that loops hand to later ones, in memory for a strip.
class Evaluator::Handed {
public:
    Handed(Evaluator& values, const std::vector<std::vector<ValueId>>& groups,
           ValueId user, int row, int column)
        : values_(values), row_(row), column_(column) {
        std::map<ValueId, std::size_t> made, last;
        for (std::size_t g = 0; g < groups.size(); ++g)
            for (ValueId id : groups[g])
                made[id] = g;
        const auto use = [&](ValueId operand, std::size_t group) {
            if (const auto of = made.find(operand);
                of != made.end() && of->second < group)
                last[operand] = group;
        };
        for (std::size_t g = 0; g < groups.size(); ++g)
            for (ValueId id : groups[g])
                for (ValueId operand : values.graph_[id].inputs())
                    use(operand, g);
        for (ValueId operand : values.graph_[user].inputs())
            use(operand, groups.size());
        for (const auto& [id, group] : last)
            handed_.push_back({id, made[id], group, nullptr});
        place();
    }

    /// In the loop of `group`: finds what earlier ones left …
    void read(std::size_t group, Value* component, Value* at) const {
        for (const One& one : handed_)
            if (one.made < group && group <= one.last)
                values_.remember(
                    values_.cell_of(one.id, {0, component}, row_, column_),
                    values_.lanes_.load(dtype_of(one.id), address(one, at)));
    }
    /// … and leaves its own.
    void write(std::size_t group, Value* component, Value* at) const {
        for (const One& one : handed_)
            if (one.made == group)
                values_.lanes_.store(
                    values_.value(one.id, {0, component}, row_, column_),
                    address(one, at));
    }

private:
    struct One {
        ValueId id;
        std::size_t made, last; ///< groups
        Value* memory;
    };
    struct Slot {
        Value* memory;
        DType dtype;
        std::size_t last;
    };

    DType dtype_of(ValueId id) const { return values_.graph_[id].type.dtype; }
    Value* address(const One& one, Value* at) const {
        return values_.lanes_.at(one.memory, at, 0,
                                 values_.lanes_.width() *
                                     std::int64_t(size_of(dtype_of(one.id))));
    }

    /// Memory that no later group reads is used again: where a loop reads and
    /// writes it, it reads first.
    void place() {
        std::ranges::sort(handed_, {}, &One::made);
        std::vector<Slot> slots;
        for (One& one : handed_) {
            const DType dtype = dtype_of(one.id);
            auto slot = std::ranges::find_if(slots, [&](const Slot& old) {
                return old.dtype == dtype && old.last <= one.made;
            });
            if (slot == slots.end())
                slot = slots.insert(
                    slot, {values_.lanes_.variable(llvm::ArrayType::get(
                               values_.lanes_.type(dtype), strip)),
                           dtype, 0});
            slot->last = one.last;
            one.memory = slot->memory;
        }
    }

    Evaluator& values_;
    int row_, column_;
    std::vector<One> handed_;
};

/// Adds up a contraction over groups of the functions below it. Of one cell.
Value*
Evaluator::contract_in_groups(ValueId id, Component of,
                              const std::vector<std::vector<ValueId>>& groups,
                              int row, int column) {
    auto& b = lanes_.b;
    const Node& node = graph_[id];
    const Handed handed(*this, groups, id, row, column);
    for (const auto& group : groups)
        for (ValueId function : group)
            for (ValueId operand : graph_[function].inputs())
                if (graph_[operand].type.rank == 0)
                    value(operand, {}, row, column);
    llvm::Type* type = lanes_.type(node.type.dtype);
    Value* sum = lanes_.variable(type);
    b.CreateStore(lanes_.number(node.type.dtype, start_of(node.op)), sum);
    Value* zero = lanes_.constant(0);
    Value* size = lanes_.constant(strip);
    Value* terms = lanes_.constant(terms_of(graph_, node));
    lanes_.loop(zero, terms, size, [&](Value* first) {
        Value* count = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin,
                                               b.CreateSub(terms, first), size);
        const auto loop = [&](std::size_t group, const auto& body) {
            lanes_.loop(zero, count, lanes_.constant(1), [&](Value* k) {
                Scope scope(*this);
                Value* component = b.CreateAdd(first, k);
                handed.read(group, component, k);
                body(component);
                handed.write(group, component, k);
            });
        };
        for (std::size_t g = 0; g < groups.size(); ++g)
            loop(g, [&](Value* component) {
                for (ValueId function : groups[g])
                    value(function, {0, component}, row, column);
            });
        loop(groups.size(), [&](Value* component) {
            Value* old = b.CreateLoad(type, sum);
            b.CreateStore(
                accumulated(node, old, of, {0, component}, row, column), sum);
        });
    });
    return b.CreateLoad(type, sum);
}

} // namespace tilefold::llvm_backend
