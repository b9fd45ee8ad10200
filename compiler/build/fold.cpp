// compiler/build/fold.cpp - a reduction by functions of the formula.
//
// The functions are evaluated at placeholders, which stand for a state and a
// term, and leave the graph as graphs of their own. What gives the result is
// evaluated at the reduction itself.

#include "compiler/build/fold_laws.h"
#include "compiler/build/graph_build.h"

#include <algorithm>

namespace tilefold {

using ir::ValueId;

namespace {

/// The functions read at most so many numbers on {}: each is loaded at every
/// entry.
constexpr std::int32_t most_given = 512;

bool same_shape(const Type& a, const Type& b) {
    return a.rank == b.rank && a.rows == b.rows;
}

Code code_of(FoldLaw law) {
    switch (law) {
    case FoldLaw::Identity:
        return Code::FoldIdentity;
    case FoldLaw::Commutative:
        return Code::FoldNotCommutative;
    case FoldLaw::Associative:
        return Code::FoldNotAssociative;
    case FoldLaw::Agreement:
        return Code::FoldDisagrees;
    }
    internal_error("a law without a message");
}

} // namespace

/// The operands of fold_j(terms, initial, accumulate, merge, finalise). Where
/// merge accumulates, both are one function.
struct GraphBuild::FoldCall {
    FoldCall(const Scope& scope, const ast::Node& node,
             const ast::Definition* last)
        : scope(scope), node(node), terms(scope.values.at(node.children[0])),
          initial(scope.values.at(node.children[1])),
          accumulate(node.children[2]) {
        const std::size_t count = node.children.size();
        const bool finishes = last->parameters.size() == 1;
        merge = node.children[count - 1 - (finishes ? 1 : 0)];
        if (finishes)
            finalise = last;
    }

    const Scope& scope;
    const ast::Node& node;
    ValueId terms, initial;
    ast::NodeId accumulate, merge;
    const ast::Definition* finalise = nullptr;
    Span span = {};
    std::string name = {}; ///< "fold_j"
    /// What is complex is folded as packed() has it.
    bool complex_state = false, complex_term = false;
};

ValueId GraphBuild::fold(Scope& scope, const ast::Node& node) {
    for (std::size_t k : {0, 1}) {
        ValueId& value = scope.values.at(node.children[k]);
        value = as_real(value);
    }
    FoldCall call(
        scope, node,
        find_definition(scope, scope.formula[node.children.back()].name));
    call.span = span_of(scope, node);
    call.name = node.name + "_" + std::string(spelling_of(axes_of(node.axes)));
    call.complex_term = is_complex(call.terms);
    call.complex_state = is_complex(call.initial);
    check_state(call);
    if (!call.complex_state && gives_complex(call))
        call.complex_state = true;
    check_state(call);
    const ValueId operands[] = {
        call.complex_term ? packed(call.terms, call.span) : call.terms,
        call.complex_state ? packed(call.initial, call.span) : call.initial};
    check_not_reduced(call.initial, node, call.span);
    const FoldBody bodies[] = {fold_body(call, call.accumulate, false),
                               fold_body(call, call.merge, true)};
    const FoldGraphs graphs(builder_, bodies);
    check_given(call, graphs.given());
    const auto fold = std::make_shared<const ir::Fold>(
        ir::Fold{graphs.graph(bodies[0], builder_.graph().real),
                 graphs.graph(bodies[1], DType::F64)});
    check_laws(call, *fold, graphs, operands);
    std::vector<ValueId> all(std::begin(operands), std::end(operands));
    if (graphs.given() != ir::no_value)
        all.push_back(graphs.given());
    const bool is_scalar = builder_.type(call.initial).rank == 0;
    ValueId reduced =
        builder_.fold(fold, axes_of(node.axes), all, call.span,
                      pairs_met(std::span(&call.terms, 1), node, call.span));
    if (call.complex_state)
        reduced = unpacked(reduced, is_scalar, call.span);
    if (!call.finalise)
        return reduced;
    Scope inner = inner_of(scope);
    inner.bound[call.finalise->parameters[0]] = reduced;
    return evaluate(inner, call.finalise->body);
}

void GraphBuild::check_state(const FoldCall& call) const {
    const Type& state = builder_.type(call.initial);
    const Type& term = builder_.type(call.terms);
    const auto span_of_child = [&](bool is_state) {
        const ast::NodeId child = call.node.children[is_state ? 1 : 0];
        return span_of(call.scope, call.scope.formula[child]);
    };
    if (state.axes != Axes::None)
        refuse(Code::FoldInitial, span_of_child(true),
               {call.name, std::string(spelling_of(state.axes))});
    for (const Type* type : {&state, &term}) {
        const bool is_state = type == &state;
        const Span span = span_of_child(is_state);
        const std::string what = is_state ? "the state" : "the term";
        if (type->rank == 2)
            refuse(Code::FoldMatrix, span, {what + " of " + call.name});
        const bool is_pair = is_state ? call.complex_state : call.complex_term;
        if (type->rows * (is_pair ? 2 : 1) > most_folded)
            refuse(Code::FoldTooLarge, span,
                   {what, call.name,
                    std::to_string(type->rows) + (is_pair ? " complex" : ""),
                    std::to_string(most_folded / (is_pair ? 2 : 1))});
    }
}

void GraphBuild::check_given(const FoldCall& call, ValueId given) const {
    const std::int32_t count =
        given == ir::no_value ? 0 : builder_.type(given).rows;
    if (count > most_given)
        refuse(Code::FoldTooLarge, call.span,
               {"the list of numbers in the functions", call.name,
                std::to_string(count), std::to_string(most_given)});
}

/// Makes a placeholder, one for each shape, whose name no formula can have.
ValueId GraphBuild::placeholder(std::string_view name, const Type& type,
                                Span span) {
    const std::string shape =
        type.rank == 0 ? "" : "[" + std::to_string(type.rows) + "]";
    return builder_.argument({"#" + std::string(name) + shape, DType::F64,
                              type.rank, type.rows, 1, Axes::None},
                             Axes::None, span);
}

/// A placeholder like `value`, and what a function is given for it.
GraphBuild::Given GraphBuild::given_for(std::string_view name, ValueId value,
                                        bool as_complex, Span span) {
    Type type = builder_.type(value);
    if (!as_complex) {
        const ValueId alone = placeholder(name, type, span);
        return {alone, alone};
    }
    const bool is_scalar = type.rank == 0;
    type.rows = 2 * (is_scalar ? 1 : type.rows);
    type.rank = 1;
    const ValueId pair = placeholder(name, type, span);
    return {pair, unpacked(pair, is_scalar, span)};
}

/// A function at a state, and at another one or at a term.
FoldBody GraphBuild::fold_body(const FoldCall& call, ast::NodeId function,
                               bool merges) {
    const ast::Node& name = call.scope.formula[function];
    const ast::Definition& definition = *find_definition(call.scope, name.name);
    const Given left =
        given_for("left", call.initial, call.complex_state, name.span);
    const Given right =
        merges ? given_for("right", call.initial, call.complex_state, name.span)
               : given_for("right", call.terms, call.complex_term, name.span);
    FoldBody body{ir::no_value, left.leaf, right.leaf};
    Scope inner = inner_of(call.scope);
    inner.bound[definition.parameters[0]] = left.value;
    inner.bound[definition.parameters[1]] = right.value;
    body.result = evaluate(inner, definition.body);
    check_body(call, inner, function, body.result);
    if (call.complex_state)
        body.result = packed(body.result, name.span);
    return body;
}

/// Whether the functions make a complex state of a real one.
bool GraphBuild::gives_complex(const FoldCall& call) {
    return is_complex(fold_body(call, call.accumulate, false).result) ||
           is_complex(fold_body(call, call.merge, true).result);
}

void GraphBuild::check_body(const FoldCall& call, const Scope& inner,
                            ast::NodeId function, ValueId result) {
    const ast::Node& name = inner.formula[function];
    check_not_reduced(result, call.node, call.span);
    for (const auto& [id, value] : inner.values) {
        if (value == ir::no_value)
            continue;
        const Type& type = builder_.type(value);
        const Span span = span_of(inner, inner.formula[id]);
        if (type.axes != Axes::None)
            refuse(Code::FoldVariable, span,
                   {name.name, call.name, std::string(spelling_of(type.axes))});
        if (type.rank == 2)
            refuse(Code::FoldMatrix, span, {"'" + name.name + "'"});
    }
    const Type& state = builder_.type(call.initial);
    const Type& type = builder_.type(result);
    if (!same_shape(type, state))
        refuse(Code::FoldShape, span_of(call.scope, name),
               {name.name, describe(type), describe(state)});
}

/// The functions are one monoid, as far as sampled states tell.
void GraphBuild::check_laws(const FoldCall& call, const ir::Fold& fold,
                            const FoldGraphs& graphs,
                            std::span<const ValueId> folded) const {
    const auto graph_of = [&](ValueId value) {
        ir::Builder copy = builder_;
        return copy.finish(value);
    };
    FoldOperands operands{graph_of(folded[0]), graph_of(folded[1])};
    operands.complex_term = call.complex_term;
    operands.complex_state = call.complex_state;
    operands.reads_parameters = graphs.reads_parameters();
    if (graphs.given() != ir::no_value)
        operands.given = graph_of(graphs.given());
    const auto broken = find_broken_law(fold, operands);
    if (!broken)
        return;
    const ast::Node& accumulate = call.scope.formula[call.accumulate];
    const ast::Node& merge = call.scope.formula[call.merge];
    refuse(code_of(broken->law), span_of(call.scope, merge),
           {merge.name, broken->left, broken->right, broken->states[0],
            broken->states[1], broken->states[2], accumulate.name});
}

} // namespace tilefold
