// compiler/ir/ir.h - the graph: hash-consed, typed values over pairs of points.
//
// What holds of every graph (verify() checks it):
//  1. Operands precede their users: `nodes` is in topological order.
//  2. Two nodes never have the same op, operands and attributes.
//  3. A node's type is the one that infer_type() gives for its operands.
//  4. Sizes N, M, batches, strides, parameter values and numeric literals
//     are no part of it: one graph serves them all.
//  5. Every value reached from `result` is used; nothing else is kept.
//  6. Arguments and literals are numbered by first use.
#pragma once

#include "compiler/ir/types.h"
#include "formulas/diagnostic.h"

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace tilefold::ir {

/// Leaves and structure first, then one enumerator per row of ops.def.
enum class Op : std::uint8_t {
    /// first: argument number; type.axes: the axis it is read on. A float
    /// array is read as the computing dtype, a float parameter as F64,
    /// integers as I64, truth values as Bool.
    Argument,
    /// A run-time number, F64; first: its slot. second 1: it is whole, an I64;
    /// -1: it is minus that number.
    Literal,
    /// A compile-time number (0 and 1 of rules), F64; value: the number.
    /// second not 0: it is whole, an I64, or the nearest I64 there is.
    Constant,
    Index,  ///< the symbol i or j (type.axes), an I64
    IntPow, ///< operand 0 to the integer power `first`
    /// Components [first, second) of operand 0; rank 0 if third. Of a scalar,
    /// [0, 1) is the vector of its one component.
    Slice,
    /// `second` rows and `third` columns of the matrix operand 0, from its
    /// component `first` on; of one row or column, a vector.
    Submatrix,
    Concat,    ///< operand 0's components, then operand 1's
    Broadcast, ///< the scalar operand 0 as a vector of `first` components
    Complex,   ///< real and imaginary part; only while a graph is built
    /// A uint64 as three I64: the nearest one, the number less 2^63, and its
    /// bits; only while a graph is built.
    Unsigned,
    Iota, ///< the vector 0, 1, …, `first` - 1 of I64
    /// first: Reduction; second: Axes reduced; third: K; fold: the functions
    /// of a Fold. Sums of integers wrap: a builder guards them. K-results are
    /// vectors of K components.
    /// An index over both axes is row * columns + column. Over chosen pairs,
    /// the result keeps the other axis even where the operands do not have it.
    /// The operands of a Fold are its terms, its initial state, and what its
    /// graphs are given.
    Reduce,
#define OP(name, ...) name,
#include "compiler/ir/ops.def"
#undef OP
};

enum class Reduction : std::uint8_t {
#define REDUCTION(name, ...) name,
#include "compiler/ir/reductions.def"
#undef REDUCTION
};

enum class Monoid : std::uint8_t {
#define MONOID(name, ...) name,
#include "compiler/ir/monoids.def"
#undef MONOID
};

enum class MonoidFamily : std::uint8_t {
    Plain,
    Location,
    Exponential,
    List,
    UserDefined,
};

enum class Finish : std::uint8_t {
    Plain,
    OverCount,
    Logarithm,
    OverWeight,
    Indices,
};

enum class ShapeRule : std::uint8_t {
    Elementwise,
    Contract,
    Contract1,
    Cross,
    MatVec,
    VecMat,
    Outer,
    Gather,
};
/// Whether an operand that is off by one ulp may change a result by more.
enum class Continuity : std::uint8_t { Smooth, Discontinuous };
/// Whether the partials are finite wherever the operands are.
enum class Slope : std::uint8_t { Bounded, Singular };
enum class ResultRule : std::uint8_t {
    Real,
    Exact,
    Affine,
    Compare,
    Logic,
    Select,
    Whole,
    Gathered,
};
enum class RangeRule : std::uint8_t {
    Any,
    NonNegative,
    Odd,
    Sum,
    Product,
    Negated,
};
enum class ReductionResult : std::uint8_t {
    Body,
    Real,
    Index,
    Truth,
    Exact,
    Total,
};

/// One row of ops.def.
struct OpRow {
    std::string_view name, spelling, keops;
    int arity;
    ShapeRule shape;
    ResultRule result;
    RangeRule range;
    int cost;
    Continuity continuity;
    Slope slope;
    std::string_view partials, tangents, doc;
};
bool has_row(Op op);        ///< an operation of ops.def, no leaf, no structure
const OpRow& row_of(Op op); ///< of an operation in ops.def only
/// Whether a component of the result is computed from the operands' components
/// of the same number.
bool is_elementwise(Op op);
std::span<const OpRow> all_op_rows(); ///< in the order of ops.def
Op op_of_row(std::size_t row);        ///< of all_op_rows()[row]
std::string_view mnemonic(Op op);     ///< lower-case name, for every Op

/// One row of monoids.def.
struct MonoidRow {
    MonoidFamily family;
    std::string_view field;
    double identity;
    int scalars, slots;
};
const MonoidRow& row_of(Monoid monoid);

/// One row of reductions.def.
struct ReductionRow {
    std::string_view name, spelling, keops;
    int least, most;
    Monoid monoid;
    ReductionResult result;
    Finish finish;
    std::string_view empty, adjoints, tangents, doc;
};
const ReductionRow& row_of(Reduction reduction);
std::span<const ReductionRow> all_reduction_rows(); ///< by Reduction

struct Fold;

using ValueId = std::uint32_t;
inline constexpr ValueId no_value = ~ValueId(0);

/// Which pairs of points a reduction meets: all, or those (i, j) that the call
/// chooses by its ranges, or those whose (j, i) it chooses.
enum class Pairs : std::uint8_t { All, Chosen, ChosenTransposed };

std::string_view spelling_of(Pairs pairs); ///< "all", "chosen", "transposed"

/// One value. Unused operands are `no_value`, unused attributes 0.
struct Node {
    Op op = Op::Constant;
    std::uint8_t arity = 0;
    std::array<ValueId, 3> operands{no_value, no_value, no_value};
    std::int64_t first = 0, second = 0, third = 0;
    double value = 0;
    Pairs pairs = Pairs::All; ///< of a Reduce
    std::shared_ptr<const Fold> fold = {};
    Type type;
    Span span; ///< in the formula, for messages; no part of identity

    std::span<const ValueId> inputs() const { return {operands.data(), arity}; }
};

/// How a formula writes the head of a Reduce node: "sum_j".
std::string spelling_of_reduction(const Node& node);

/// An array or number that the caller passes.
struct Argument {
    std::string name;
    DType dtype = DType::F32; ///< as stored
    std::uint8_t rank = 0;    ///< of one point's value
    std::int32_t rows = 1;    ///< components; `dynamic` allowed
    std::int32_t columns = 1;
    Axes axes = Axes::None; ///< where it is read: I, J, IJ (both), None

    friend bool operator==(const Argument&, const Argument&) = default;
};

/// A whole formula. Values are reached through ids.
struct Graph {
    DType real = DType::F32; ///< the computing dtype, F32 or F64
    std::vector<Argument> arguments;
    /// Values of the run-time literals, by slot. None is negative, and they
    /// are no part of the graph's identity.
    std::vector<double> literals;
    std::vector<Node> nodes;
    ValueId result = no_value;
    /// The result, an I64, is the bits of uint64 numbers. This holds of a
    /// graph as built; passes do not keep it.
    bool is_unsigned = false;
    /// Kernels note where a product that was put together by axes left the
    /// range. This holds of a graph that is planned for a processor, where the
    /// program has another one for such a call; passes do not keep it.
    bool is_watched = false;

    const Node& operator[](ValueId id) const { return nodes[id]; }
};

/// The monoid of a Fold as graphs of the state: what adds a term to it, and
/// what merges two. Their arguments are `left` (a state) and `right` (a term,
/// or a state that covers later ones), both on i, and the parameter `given`;
/// what a graph does not read is missing. They hold no literal and no
/// reduction. Terms are added in the computing dtype, states merged in F64.
struct Fold {
    Graph accumulate, merge;
    std::string_view spelling = "fold"; ///< for messages; no part of identity
};
inline constexpr std::string_view fold_arguments[] = {"left", "right", "given"};

/// The place of the graph's argument of that name, if it has one.
std::optional<std::size_t> find_argument(const Graph& graph,
                                         std::string_view name);

/// Returns the node with i and j exchanged, but for its operands and its type.
Node exchanged(Node node);

/// Says for each value whether one of `roots` is computed from it (a root may
/// be no_value). What is below a value for which `stops` holds does not count.
std::vector<bool> reached(const Graph& graph, std::span<const ValueId> roots,
                          const std::function<bool(ValueId)>& stops = {});

/// Whether the graphs are equal up to spans and the literals' values.
bool equal(const Graph& a, const Graph& b);
/// Whether both are null, or both are equal graphs.
bool equal(const std::shared_ptr<const Fold>& a,
           const std::shared_ptr<const Fold>& b);

/// Returns the type that the operands of `node` give it (for an Argument:
/// `first` and type.axes). Where a rule of ops.def's legend is broken, it
/// throws an Error with the node's span in `formula`.
Type infer_type(const Graph& graph, const Node& node,
                std::string_view formula = {});

/// Whether the I64 may be beyond what F64 holds. 64-bit integers of arrays,
/// constants, and what is made of them may be; index symbols, results of
/// argmin and literals are not.
bool may_exceed_f64(const Graph& graph, ValueId id);

/// Throws Error(TooManyComponents) for a vector of more than `most`
/// components, by default more than an int32 counts.
void check_components(std::int64_t count, Place place,
                      std::int64_t most = (std::int64_t(1) << 31) - 1);

/// A graph has at most so many nodes; a larger one is Error(TooLarge).
inline constexpr std::size_t most_nodes = 20'000;

/// Grows a graph. Equal values are made once; types are inferred, and a
/// broken rule throws (shape errors carry the node's span and the formula).
/// Literals count as equal by value where they are operands beside a value
/// that is more than literals; a literal by itself is never merged, so that
/// the graph of a formula does not depend on its numbers.
class Builder {
public:
    /// Messages point into `formula`, the text, with a caret.
    Builder(DType real, std::string formula = {});

    ValueId argument(const Argument& argument, Axes read_on, Span span = {});
    ValueId literal(double value, Span span = {});
    /// The literal `value` as an I64; it is a whole number, and `negated`
    /// takes minus that number.
    ValueId whole(ValueId value, bool negated);
    ValueId constant(double value);
    /// The constant as an I64, or the nearest I64 there is.
    ValueId whole_constant(double value);
    ValueId index(Axes axis, Span span = {});
    /// Makes a node of any operation of ops.def.
    ValueId apply(Op op, std::span<const ValueId> operands, Span span = {});
    ValueId apply(Op op, std::initializer_list<ValueId> operands,
                  Span span = {});
    ValueId int_pow(ValueId base, std::int64_t exponent, Span span = {});
    /// Components [first, last) of `value`; with `scalar`, the one component
    /// as rank 0.
    ValueId slice(ValueId value, std::int64_t first, std::int64_t last,
                  bool scalar, Span span = {});
    ValueId concat(ValueId a, ValueId b, Span span = {});
    /// Makes a complex value, which only GraphBuild can use.
    ValueId complex(ValueId real, ValueId imaginary, Span span = {});
    /// Makes a uint64, which only GraphBuild can use.
    ValueId unsigned_parts(const std::array<ValueId, 3>& parts, Span span = {});
    /// The scalar `value` as a vector.
    ValueId broadcast(ValueId value, std::int64_t components, Span span = {});
    /// The vector 0, 1, …, components - 1.
    ValueId iota(std::int64_t components, Span span = {});
    ValueId reduce(Reduction reduction, Axes axes,
                   std::span<const ValueId> operands, std::int64_t k = 0,
                   Span span = {}, Pairs pairs = Pairs::All);
    /// A reduction by a monoid of the user. Its operands are the terms, the
    /// initial state and, where its graphs read it, what they are given.
    ValueId fold(std::shared_ptr<const Fold> fold, Axes axes,
                 std::span<const ValueId> operands, Span span = {},
                 Pairs pairs = Pairs::All);
    /// A copy of `node` (of another graph) with these operands.
    ValueId rebuild(const Node& node, std::span<const ValueId> operands);
    /// Takes over the arguments and literals of a graph, before any value.
    void adopt(const Graph& graph);
    /// Takes over the graph's arguments, literals and all its values, each
    /// after `change`; types are inferred anew. Returns, for each value of the
    /// graph, the value it is here.
    std::vector<ValueId> rebuild(const Graph& graph,
                                 const std::function<Node(Node)>& change = {});

    const Node& operator[](ValueId id) const { return graph_.nodes[id]; }
    /// A copy: nodes move when the graph grows, also between two arguments of a
    /// call.
    Type type(ValueId id) const { return graph_.nodes[id].type; }
    const std::string& formula() const { return formula_; }
    Graph& graph() { return graph_; }
    const Graph& graph() const { return graph_; }
    /// Keeps what `result` reaches, renumbers, and hands the graph over.
    Graph finish(ValueId result);

private:
    ValueId intern(Node node);
    ValueId add(Node node);
    ValueId find(const Node& node, std::uint64_t hash, bool by_value) const;
    std::uint64_t hash_of(const Node& node) const;

    Graph graph_;
    std::string formula_;
    std::unordered_multimap<std::uint64_t, ValueId> interned_;
    /// `alike_` holds, for each value, the first one that is equal to it when
    /// literals go by their values; `literal_` says whether it is made of
    /// literals and constants only.
    std::vector<ValueId> alike_;
    std::vector<bool> literal_;
};

} // namespace tilefold::ir
