// compiler/build/graph_build.h - build() in progress: AST nodes become values.
//
// 1. A body (the formula's, a definition's) is evaluated from its leaves up,
//    each node once for each set of bound parameters.
// 2. A number of the text has one slot however often its definition is
//    inlined; a number of sugar.def or catalogue.def is a constant.
// 3. A message points at the node; inside sugar.def or catalogue.def, at the
//    call.
#pragma once

#include "compiler/build/build.h"
#include "compiler/build/differentiate.h"
#include "compiler/build/expand.h"
#include "compiler/build/fold_graph.h"
#include "compiler/build/roles.h"
#include "compiler/language/vocabulary.h"

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace tilefold {

/// The names of operands in rules of complex.def, unsigned.def and
/// composites.def.
inline constexpr const char* operand_letters[] = {"a", "b", "c"};

/// A fold's state and its term have at most so many components, since they live
/// in registers.
inline constexpr std::int32_t most_folded = 64;

/// What complex.def says of the two parts of a result, or of its only one.
struct ComplexParts {
    ast::Formula real;
    std::optional<ast::Formula> imaginary;
};

class GraphBuild {
public:
    GraphBuild(const ast::Formula& formula,
               std::span<const ArgumentType> arguments, ir::Pairs pairs,
               std::optional<DType> real = {});
    /// Evaluates a rule of a table, inside a graph that grows elsewhere.
    GraphBuild(const ast::Formula& rule, ir::Builder& builder);
    ir::Graph run();
    DerivedGraph derive(const Derivation& derivation,
                        std::span<const ArgumentType> seeds);
    ir::ValueId expand(const Bindings& bindings);
    /// Whether values were rounded to the computing dtype that a rule orders.
    bool orders_rounded() const { return orders_rounded_; }
    /// Whether a mean of chosen pairs, a quotient, has fewer digits than one of
    /// all pairs.
    bool narrows_means() const { return narrows_means_; }

private:
    using Values = std::map<ast::NodeId, ir::ValueId>;
    struct Caller;

    /// A body being evaluated.
    struct Scope {
        const ast::Formula& formula;
        std::map<std::string, ir::ValueId> bound = {};
        /// The span of the call, where the body is sugar.def's or
        /// catalogue.def's.
        std::optional<Span> call = {};
        int depth = 0;
        /// The order of a derivative at the node that is being evaluated.
        AdjointOrder order = AdjointOrder::Last;
        Values values = {};
        /// The bindings, where the body is a rule of reductions.def.
        const Bindings* rule = nullptr;
        /// The call whose body is evaluated; see Caller.
        const Caller* caller = nullptr;
        /// Nodes whose vectors are rows, made by a transpose.
        std::set<ast::NodeId> rows = {};

        /// Whether the body is catalogue.def's, in which what has two readings
        /// is refused as in a user's text.
        bool is_named() const { return caller && caller->sugar.is_named; }
        /// Bodies of sugar.def and the rules act by component and have one
        /// reading.
        bool acts_by_component() const { return call && !is_named(); }
    };

    /// The innermost call of a function of sugar.def or catalogue.def.
    struct Caller {
        const Sugar& sugar;
        const ast::Node& node; ///< the call
        const Scope& scope;    ///< it stands in
    };

    /// A value with a condition as a factor: `value` where it holds, else 0.
    /// Without a value, the node is the condition alone, or has no condition.
    struct Masked {
        ir::ValueId condition = ir::no_value;
        ir::ValueId value = ir::no_value;
    };

    // graph_build.cpp: arguments, names, definitions, the finished formula
    void read_arguments();
    void check_known(const std::string& name, const ArgumentType& argument);
    void check_given(const NameUse& use) const;
    void check_missing_y() const;
    void check_reduction_axes() const;
    void check_whole_formula() const;
    void take_role(NameUse& use, const ArgumentType& argument) const;
    void check_axes(const ir::Graph& graph) const;
    void check_reductions(const ir::Graph& graph, ir::ValueId result) const;
    ir::ValueId evaluate(Scope& scope, ast::NodeId root);
    ir::ValueId value_of(Scope& scope, const ast::Node& node, ast::NodeId id);
    ir::ValueId number(Scope& scope, const ast::Node& node, ast::NodeId id);
    ir::ValueId name(Scope& scope, const ast::Node& node);
    ir::ValueId index(const Scope& scope, const ast::Node& node);
    ir::ValueId variable(const std::string& name, Axes read_on, Span span);
    static Scope inner_of(const Scope& scope);
    ir::ValueId call(Scope& scope, const ast::Node& node,
                     const ast::Definition& definition);
    ir::ValueId sugar(Scope& scope, const ast::Node& node, const Sugar& sugar);
    const ast::Definition* find_definition(const Scope& scope,
                                           const std::string& name) const;

    // notations.cpp
    ir::ValueId size(const std::string& name, Span span);
    std::int32_t components_of_points(Span span) const;
    bool is_transpose(const Scope& scope, const ast::Node& node) const;
    ir::ValueId as_row(Scope& scope, const ast::Node& node);
    static ast::NodeId id_of(const Scope& scope, const ast::Node& node);
    bool reads_row(const Scope& scope, const ast::Node& node) const;
    ir::ValueId of_row(Scope& scope, const ast::Node& node);
    ir::ValueId row_product(Scope& scope, const ast::Node& node);
    ir::ValueId inner_product(ir::ValueId a, ir::ValueId b, Span span);
    Masked masked_operand(const Scope& scope, ast::NodeId child) const;
    ir::ValueId or_one(ir::ValueId value);
    ir::ValueId joint_condition(const Masked& a, const Masked& b, Span span);
    ir::ValueId where_holds(ir::ValueId condition, ir::ValueId value,
                            Span span);
    ir::ValueId masked(Scope& scope, const ast::Node& node, Span span);

    // refusals.cpp
    [[noreturn]] void refuse_missing(const NameUse& use) const;
    void check_points(std::span<const ir::ValueId> operands, Span span) const;
    void check_matrix(const Scope& scope, const ast::Node& node, Type left,
                      Type right, Span span) const;
    void check_scale(const Scope& scope, Span span) const;
    void check_scale(const Sugar& sugar, const std::string& name,
                     const Type& type, Span span) const;

    // complex.cpp
    bool is_complex(ir::ValueId id) const;
    ir::ValueId real_part(ir::ValueId id) const;
    ir::ValueId imaginary_part(ir::ValueId id) const;
    ir::ValueId complex(ir::ValueId real, ir::ValueId imaginary, Span span);
    bool is_zero(ir::ValueId part) const;
    ir::ValueId whole_part(ir::ValueId part, ir::ValueId other);
    std::string kinds_of(std::span<const ir::ValueId> operands) const;
    Bindings bind_parts(std::span<const ir::ValueId> operands, Span span) const;
    ir::ValueId expand_parts(const ComplexParts& parts,
                             const Bindings& bindings);
    /// Returns an element of a table of truth values as one, false where there
    /// is none; other values as they are.
    ir::ValueId truth_of(ir::ValueId value);
    ir::ValueId operation(ir::Op op, std::span<const ir::ValueId> operands,
                          Span span);
    ir::ValueId operation(ir::Op op,
                          std::initializer_list<ir::ValueId> operands,
                          Span span);
    ir::ValueId complex_function(const ComplexFunctionRow& row, ir::ValueId a,
                                 Span span);
    ir::ValueId complex_power(ir::ValueId base, std::int64_t exponent,
                              Span span);
    ir::ValueId packed(ir::ValueId id, Span span);
    ir::ValueId unpacked(ir::ValueId id, bool is_scalar, Span span);
    ir::ValueId complex_product(Axes over, ir::ValueId value, Span span,
                                ir::Pairs pairs);
    ir::ValueId folded_product(Axes over, ir::ValueId value, Span span,
                               ir::Pairs pairs);
    ir::ValueId complex_reduction(ir::Reduction reduction, Axes over,
                                  std::vector<ir::ValueId> operands, Span span,
                                  ir::Pairs pairs);

    // unsigned.cpp
    bool is_unsigned(ir::ValueId id) const;
    bool any_unsigned(std::span<const ir::ValueId> operands) const;
    bool are_wide_integers(std::span<const ir::ValueId> operands) const;
    ir::ValueId unsigned_of_bits(ir::ValueId bits, Span span);
    ir::ValueId unsigned_of(ir::ValueId nearest, ir::ValueId less, Span span);
    ir::ValueId as_real(ir::ValueId id);
    ir::ValueId bits_of(ir::ValueId id) const;
    ir::ValueId
    by_unsigned_parts(ir::ValueId id,
                      const std::function<ir::ValueId(ir::ValueId)>& change);
    void make_literals_unsigned(std::span<ir::ValueId> operands, Span span);
    void make_alike(std::span<ir::ValueId> operands, const std::string& what,
                    Span span);
    ir::ValueId unsigned_operation(ir::Op op,
                                   std::span<const ir::ValueId> operands,
                                   Span span);
    ir::ValueId unsigned_reduction(ir::Reduction reduction, Axes over,
                                   std::span<const ir::ValueId> operands,
                                   std::int64_t k, Span span, ir::Pairs pairs);
    ir::ValueId real_of_table(ir::ValueId found, Span span);

    // derived.cpp
    struct Results {
        std::vector<ir::ValueId> values;
        std::vector<Type> types;
        std::vector<std::string> labels; ///< see DerivedGraph
    };
    Results results_of_value(ir::ValueId value);
    std::vector<std::string>
    with_imaginary(std::span<const std::string> names) const;
    void simplify_results(Results& results);
    void check_differentiable(const std::string& name);
    void refuse_pairs(const Type& type) const;
    Results reversed(const Results& results, const DerivationStep& step,
                     AdjointOrder order);
    Results moved(const Results& results, const DerivationStep& step,
                  AdjointOrder order);
    ir::ValueId cotangent(const std::string& name, const Type& type,
                          ir::ValueId result);
    void check_seed_of_real(const Results& results, std::size_t number,
                            const std::string& name) const;
    const std::string& name_of(ir::ValueId leaf) const;
    ir::ValueId on_axis(ir::ValueId adjoint, ir::ValueId leaf, Axes axis);
    std::vector<ir::ValueId> leaves_of(const std::string& name) const;
    ir::Argument seed_argument(const ArgumentType& type, Axes axes) const;
    const ArgumentType* find_seed(const std::string& name) const;
    ir::ValueId derivative(Scope& scope, const ast::Node& node,
                           DerivativeFunction function);
    /// Notes the axes of f and of x that their derivative lacks: it is the same
    /// along them, and still of each point.
    ir::ValueId same_along_axes(ir::ValueId derivative, ir::ValueId f,
                                ir::ValueId x);
    /// Returns what is reduced, or the result, on the axes that were noted of
    /// its parts.
    ir::ValueId on_all_axes(ir::ValueId value);
    ir::ValueId divergence(ir::ValueId v, ir::ValueId x, Span span,
                           AdjointOrder order);
    ir::ValueId gradient_at(ir::ValueId f, ir::ValueId x, ir::ValueId cotangent,
                            AdjointOrder order);
    ir::ValueId jacobian(ir::ValueId f, ir::ValueId x, Span span,
                         AdjointOrder order);
    void expect_argument(ir::ValueId x, const ast::Node& node, Span span);

    // shape_functions.cpp
    /// Refuses to make more components one by one than may be.
    /// `written` is the number as the formula has it.
    void check_written_out(std::int64_t count, std::string written,
                           Span span) const;
    ir::ValueId shape_function(Scope& scope, const ast::Node& node,
                               ShapeFunction shape_function);
    [[noreturn]] void refuse_size(const Scope& scope, const ast::Node& node,
                                  std::size_t operand) const;
    std::int64_t whole_operand(Scope& scope, const ast::Node& node,
                               std::size_t operand) const;
    std::vector<std::int64_t> whole_list(Scope& scope, const ast::Node& node,
                                         std::size_t operand) const;
    std::string written_operand(const Scope& scope, const ast::Node& node,
                                std::size_t operand) const;
    ir::ValueId arange(Scope& scope, const ast::Node& node, Span span);
    ir::ValueId pad(Scope& scope, const ast::Node& node, Span span);
    ir::ValueId repeated(Scope& scope, const ast::Node& node, Span span);
    ir::ValueId product_of_flat(const ast::Node& node, ir::ValueId a,
                                ir::ValueId b, bool matrix_first, Span span);
    ir::ValueId quadratic(ir::ValueId s, ir::ValueId x, Span span);
    ir::ValueId joined(std::span<const ir::ValueId> scalars, Span span);
    ir::ValueId component(ir::ValueId vector, std::int64_t k, Span span);
    [[noreturn]] void refuse_shape(const ast::Node& node, std::string found,
                                   std::string expected, Span span) const;

    // tensors.cpp
    /// The shapes of two arrays, and the axes that are summed over.
    struct TensorPair {
        std::vector<std::int64_t> f, g, axes_f, axes_g;
    };
    void check_tensor(const Scope& scope, const ast::Node& node,
                      std::size_t operand,
                      const std::vector<std::int64_t>& shape, Span span) const;
    ir::ValueId kron(Scope& scope, const ast::Node& node, Span span);
    ir::ValueId tensordot(Scope& scope, const ast::Node& node, Span span);
    ir::ValueId contracted(Scope& scope, const ast::Node& node,
                           const TensorPair& pair,
                           const std::vector<std::int64_t>& order, Span span);
    ir::ValueId softmin(std::span<const ir::ValueId> all, ir::ValueId gamma,
                        Span span);
    ir::ValueId bspline(Scope& scope, const ast::Node& node, Span span);
    ir::ValueId softdtw(Scope& scope, const ast::Node& node, Span span);

    // operations.cpp
    void keep_zeros(const Scope& scope, const ast::Node& node,
                    std::span<ir::ValueId> operands);
    ir::ValueId as_scalar(ir::ValueId id, Span span);
    void spread_single(ir::Op op, std::span<ir::ValueId> operands, Span span);
    ir::ValueId apply(Scope& scope, const ast::Node& node);
    std::optional<double> written_number(ir::ValueId id) const;
    std::string written(ir::ValueId id) const;
    void check_order(ir::ValueId order, Span span) const;
    ir::ValueId low_order(ir::ValueId order);
    void keep_whole(ir::Op op, std::span<ir::ValueId> operands, Span span);
    ir::ValueId product(const Scope& scope, const ast::Node& node,
                        ir::ValueId a, ir::ValueId b, Span span);
    ir::ValueId quotient(const Scope& scope, ir::ValueId a, ir::ValueId b,
                         Span span);
    ir::ValueId power(Scope& scope, const ast::Node& node, ir::ValueId base,
                      Span span);
    ir::ValueId whole_power(ir::ValueId base, std::int64_t exponent, Span span);
    ir::ValueId norm(ir::ValueId a, Span span);
    ir::ValueId dot(ir::ValueId a, ir::ValueId b, Span span);
    ir::ValueId matrix_product(ir::ValueId a, ir::ValueId b, Span span);
    ir::ValueId squared(ir::Op op, std::span<const ir::ValueId> operands,
                        Span span);
    ir::ValueId gather(Scope& scope, const ast::Node& node,
                       std::span<ir::ValueId> operands, Span span);
    double fixed_index(double value, std::string written, std::int32_t length,
                       const Type& table, Span span) const;
    ir::ValueId subscript(Scope& scope, const ast::Node& node);
    ir::ValueId subscript(const ast::Node& node, ir::ValueId vector, Span span);
    ir::ValueId component(const ast::Node& node, ir::ValueId vector, Span span);
    ir::ValueId list(Scope& scope, const ast::Node& node);
    ir::ValueId list(std::span<const ir::ValueId> parts, Span span);
    ir::ValueId unsigned_list(std::span<const ir::ValueId> numbers, Span span);

    // reductions.cpp
    ir::ValueId reduce(Scope& scope, const ast::Node& node);
    bool merge_reductions(ir::Reduction reduction, Axes& over,
                          ir::ValueId& body);
    void scalars_of(ir::Reduction reduction, std::span<ir::ValueId> operands,
                    Span span);
    ir::ValueId reduction(ir::Reduction reduction, Axes over,
                          std::span<const ir::ValueId> operands, std::int64_t k,
                          Span span, ir::Pairs pairs);
    ir::ValueId guarded_sum(Axes over, ir::ValueId f, Span span,
                            ir::Pairs pairs);
    ir::ValueId reduction_sugar(Scope& scope, const ast::Node& node,
                                const ReductionSugar& sugar);
    ir::ValueId level_of(Scope& scope, const ast::Node& node, ir::ValueId f,
                         Axes over);
    void search_rank(Bindings& bindings); // quantile.cpp
    std::int64_t count_of(Scope& scope, const ast::Node& node) const;
    ir::ValueId reduction_below(ir::ValueId value);
    Span span_of_inner(ir::ValueId reduction, Span outer) const;
    void check_not_reduced(ir::ValueId value, const ast::Node& outer,
                           Span span);
    ir::Pairs pairs_met(std::span<const ir::ValueId> operands,
                        const ast::Node& outer, Span span);

    // fold.cpp
    struct FoldCall;
    ir::ValueId fold(Scope& scope, const ast::Node& node);
    void check_state(const FoldCall& call) const;
    void check_given(const FoldCall& call, ir::ValueId given) const;
    /// A placeholder, and the value that a function reads of it.
    struct Given {
        ir::ValueId leaf, value;
    };
    Given given_for(std::string_view name, ir::ValueId value, bool as_complex,
                    Span span);
    FoldBody fold_body(const FoldCall& call, ast::NodeId function, bool merges);
    bool gives_complex(const FoldCall& call);
    ir::ValueId placeholder(std::string_view name, const Type& type, Span span);
    void check_body(const FoldCall& call, const Scope& inner,
                    ast::NodeId function, ir::ValueId result);
    void check_laws(const FoldCall& call, const ir::Fold& fold,
                    const FoldGraphs& graphs,
                    std::span<const ir::ValueId> folded) const;

    Span span_of(const Scope& scope, const ast::Node& node) const;
    /// The text of the formula at a span.
    std::string typed(Span span) const;
    [[noreturn]] void refuse(Code code, Span span,
                             std::initializer_list<std::string> texts) const;

    const ast::Formula& formula_;
    std::span<const ArgumentType> given_;
    ir::Pairs pairs_ = ir::Pairs::All; ///< that the formula's reductions meet
    std::optional<ir::Builder> own_;
    ir::Builder& builder_;
    bool orders_rounded_ = false, narrows_means_ = false;
    std::map<std::string, NameUse> uses_;
    std::vector<std::string> names_; ///< of uses_, in the order of the text
    std::map<std::string, ir::Argument> arguments_;
    std::span<const ArgumentType> seeds_;
    std::map<ast::NodeId, ir::ValueId> slots_;
    std::map<std::string, ir::ValueId> definitions_; ///< values, once made
    std::map<ir::ValueId, Masked> masks_;
    /// For each result of guarded_sum(), the plain sum in it.
    std::map<ir::ValueId, ir::ValueId> guarded_;
    /// Of derivatives that lack axes, arguments on these.
    std::map<ir::ValueId, std::vector<ir::ValueId>> same_along_;
    /// For each value, a Reduce that it depends on, or no_value.
    std::vector<ir::ValueId> reduced_;
    std::size_t steps_ = 0;
};

/// Returns the value of a node that is a number, or minus a number, as typed.
std::optional<double> literal_of(const ast::Formula& formula, ast::NodeId id);

} // namespace tilefold
