// compiler/ir/document.h - values of the compiler as JSON, for those who read
// them by program; texts for people are in text.h.
//
// Fields have the names of what they are made from, and stand in one order.
// Values of a graph are their numbers; what is missing is null. Lengths that
// the call decides are null. Numbers that are not finite are strings, "inf",
// "-inf" and "nan", since JSON has none.
#pragma once

#include "compiler/ir/ir.h"

#include <nlohmann/json_fwd.hpp>

namespace tilefold {

using Document = nlohmann::ordered_json;

/// A number, or how one that is not finite is called.
Document document_of(double number);
/// A number of components; null where the call decides it.
Document document_of_length(std::int64_t components);
/// {"dtype": "f32", "shape": [3], "axes": ["i"]}
Document document_of(const Type& type);

namespace ir {

/// {"dtype", "watched", "arguments", "literals", "nodes", "result"}
Document document_of(const Graph& graph);

} // namespace ir
} // namespace tilefold
