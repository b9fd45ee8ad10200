// python_bindings/ffi/call_text.h - a call of a formula as text: what a program
// that holds the call, but no Python, says of it.
//
// The text is a query string as of a URL (application/x-www-form-urlencoded):
//
//   formula=sum_j+x_i&names=x&batch=0&steps=1:grad1:0:x&axes=-1&tolerance=1e-6
//
//   names   of the arguments, in the order of the operands, by commas
//   axes    that are declared of each, by commas: -1 none, else Axes; may lack
//   batch   how many leading dimensions of each operand are a batch's
//   steps   of the derivation, by semicolons: kind:seed:keeps values:names
//   ranges  the batch of the lists of ranges that follow the arguments: their
//           tiles, rows, counts and columns; may lack
// and the settings of options.def that are set.
#pragma once

#include "runtime/session/session.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tilefold::python {

/// A call, but for its arrays.
struct FfiCall {
    Formula formula;
    std::vector<std::string> names;
    std::vector<std::optional<Axes>> declared; ///< as many as names
    std::size_t batch = 0;
    std::optional<Extents> ranges; ///< the batch of the lists
};

/// The pairs of a query string, without its escapes. Throws an InternalError.
std::vector<std::pair<std::string, std::string>>
pairs_of_query(std::string_view text);

/// The call that a text says, in the default session; the last few thousand
/// are kept. Needs no GIL once there is a default session. Throws Error.
std::shared_ptr<const FfiCall> call_of_text(std::string_view text);

} // namespace tilefold::python
