// compiler/monoids/state.h - what a reduction keeps of a row: fields, and what
// they hold over no columns.
#pragma once

#include "compiler/ir/ir.h"

#include <bit>
#include <cstdint>
#include <string_view>
#include <vector>

namespace tilefold {

/// Returns a term that does not change the reduction, but that an index would
/// be found where the term is. NaN: there is no such term. `is_truth`: the
/// terms are truth values.
double identity_of(ir::Monoid monoid, bool is_truth = false);

/// The dtype a tile's terms are accumulated in: the computing dtype, or I64.
DType accumulated_dtype(const ir::Graph& graph, const ir::Node& reduce);

/// An array of the state: an element of 8 bytes for each row and component.
struct StateField {
    std::string_view name;
    DType dtype = DType::F64;    ///< F64 or I64
    std::int64_t components = 1; ///< `dynamic` allowed
    double identity = 0;         ///< unless the monoid's own functions say it
    bool is_vector = false;

    /// An identity that is NaN is equal to one that is.
    friend bool operator==(const StateField& a, const StateField& b) {
        return a.name == b.name && a.dtype == b.dtype &&
               a.components == b.components && a.is_vector == b.is_vector &&
               std::bit_cast<std::uint64_t>(a.identity) ==
                   std::bit_cast<std::uint64_t>(b.identity);
    }
};

/// Returns the fields of a Reduce node; the vector operand's components are
/// the last.
std::vector<StateField> state_of(const ir::Graph& graph,
                                 const ir::Node& reduce);

/// Returns the first reduction whose state is that of `reduce`, of which each
/// makes a result of its own: kmin and argkmin of the same values, sum and
/// mean.
ir::ValueId first_of_state(const ir::Graph& graph, ir::ValueId reduce);

} // namespace tilefold
