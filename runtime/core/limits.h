// runtime/core/limits.h - what a formula that a stranger wrote may cost.
//
// These hold where Options::untrusted is set, and come on top of what holds for
// every formula: its bytes (formulas/lexer.h), its nodes (compiler/ir/ir.h) and
// the instructions of a kernel (compiler/backends/llvm/factory.h). Literals are
// counted in the bytes of the text. What is computed takes the time of its
// pairs, whoever wrote it: who calls knows them.
#pragma once

#include "formulas/diagnostic.h"

#include <chrono>
#include <cstdint>
#include <string>

namespace tilefold::limits {

inline constexpr std::int64_t formula_bytes = 10'000;
/// Nodes of the graph, after its common parts are one.
inline constexpr std::int64_t nodes = 2'000;
/// The time of one compile, which is asked between the compiler's passes, so
/// that it may take a little longer.
inline constexpr std::chrono::milliseconds compile_time{1500};
/// Bytes of all results of a call together.
inline constexpr std::int64_t result_bytes = std::int64_t(512) << 20;
/// Bytes of states and scratch of all threads of a run together.
inline constexpr std::int64_t memory_bytes = std::int64_t(512) << 20;

/// Throws UntrustedLimit where `what` takes more than `most` of a `unit`.
inline void require(const char* what, std::int64_t taken, std::int64_t most,
                    const char* unit) {
    if (taken > most)
        fail(Code::UntrustedLimit,
             {what, std::to_string(taken) + unit, std::to_string(most) + unit});
}

} // namespace tilefold::limits
