// compiler/passes/split.h - a graph split by axes: where each value is
// computed, and what the inner loop reads of what was computed before it.
#pragma once

#include "compiler/ir/ir.h"

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace tilefold {

/// Where a value is computed.
enum class Site : std::uint8_t {
    Call,   ///< on {}
    Row,    ///< on {i}, for the pair term or a reduction
    Column, ///< on {j}, for them
    Pair,   ///< on {i,j}, and what is reduced of it
    After,  ///< of reductions, or of a row for their epilogue alone
};
std::string_view spelling_of(Site site); ///< "once a call", "for each pair" …
/// Returns the site of each value of an oriented graph.
std::vector<Site> sites_of(const ir::Graph& graph);

/// Values in the order of the graph.
struct Split {
    /// `Values` are those computed at a site, and of these the ones that the
    /// pair term or a reduction reads.
    struct Values {
        std::vector<ir::ValueId> computed, crossing;
    };
    Values call;   ///< on {}: once a call, by prepare
    Values row;    ///< on {i}: once a row, while packing
    Values column; ///< on {j}: once a column of a panel, while packing
    /// Values on {i,j}, computed for every pair; reductions come last.
    std::vector<ir::ValueId> pair;
    /// What the epilogue computes of a row, from the reductions and from
    /// rows alike.
    std::vector<ir::ValueId> finish;
};

/// Splits an oriented graph by sites.
Split split(const ir::Graph& graph);

/// Products, powers and quotients of real numbers that rewriting may take out
/// of the range of the computing dtype, while what was written stays in it.
struct Watched {
    /// Those that are not computed for each pair: factors are put together by
    /// axes, and a divisor on one axis becomes its reciprocal.
    std::set<ir::ValueId> products;
    /// Of these, what is a sum with a factor that may have left it: which
    /// operand the sum is, and whether it is one of products, which may vanish
    /// without the factor.
    struct Sum {
        std::size_t operand;
        bool is_of_products;
    };
    std::map<ir::ValueId, Sum> sums;
};
Watched watched_values(const ir::Graph& graph);

/// Prints one line for each value, by site; `>` marks what crosses into the
/// inner loop.
std::string print(const Split& split, const ir::Graph& graph);

} // namespace tilefold
