// compiler/passes/exponents.h - exponents that a call gives for all its pairs
// at once: where one is whole, or half of an odd number, its power is a few
// products and a root.

#pragma once

#include "compiler/ir/ir.h"

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace tilefold::ir {

/// Returns the exponents of the graph's powers on an axis that are one number
/// for all pairs, made of parameters and run-time numbers by elementwise
/// operations.
std::vector<ValueId> uniform_exponents(const Graph& graph);

/// Reads component `component` of argument `number`, a parameter.
using ParameterReader =
    std::function<double(std::size_t number, std::int64_t component)>;

/// Returns the value of such an exponent, from the parameters of a call and
/// the graph's literals, in double precision as kernels compute it.
double value_of_exponent(const Graph& graph, ValueId exponent,
                         const ParameterReader& read);

/// Exponents up to here are fixed for a call. A kernel is made for each, and a
/// power is at most four products, a quotient and a root.
inline constexpr double largest_fixed_exponent = 8;

/// Twice an exponent that is whole, or half of an odd number, and no larger
/// than that; else `open_exponent`.
using HalfExponent = std::int8_t;
inline constexpr HalfExponent open_exponent = 127;
HalfExponent half_exponent(double exponent);

/// Returns the graph in which these exponents are numbers of the graph, but for
/// the open ones, for canonicalise() to make products and roots of their
/// powers. Arguments and literals that nothing else reads are dropped.
Graph with_exponents(const Graph& graph, std::span<const ValueId> exponents,
                     std::span<const HalfExponent> fixed);

} // namespace tilefold::ir
