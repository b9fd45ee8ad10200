// formulas/diagnostic.h - every error a user can meet: its code, where it
// points in the formula, and the text with a caret.
#pragma once

#include "formulas/span.h"

#include <cstdint>
#include <exception>
#include <initializer_list>
#include <string>
#include <string_view>

namespace tilefold {

/// One enumerator per row of diagnostics.def.
enum class Code : std::uint16_t {
#define DIAGNOSTIC(code, family, found, cure) code,
#include "formulas/diagnostics.def"
#undef DIAGNOSTIC
};

/// What the error is about; bindings map a family to an exception class.
enum class Family : std::uint8_t {
    Formula,
    Shape,
    DType,
    Argument,
    OutOfMemory,
    Device,
    Cancelled,
    Internal,
    Warning, ///< never thrown: the text of a warning
};

/// The one exception type of the library. `what()` is the whole message:
/// what was found, what was expected, the formula with a caret, the cure.
class Error : public std::exception {
public:
    Error(Code code, std::string message, std::string formula, Span span);

    const char* what() const noexcept override { return message_.c_str(); }
    Code code() const noexcept { return code_; }
    Family family() const noexcept;
    /// The enumerator's name, "UnknownFunction".
    std::string_view code_name() const noexcept;
    /// The formula as typed; empty where no formula is concerned.
    const std::string& formula() const noexcept { return formula_; }
    /// The bytes of `formula()` the error points at; an empty span stands for
    /// no place.
    Span span() const noexcept { return span_; }

private:
    Code code_;
    std::string message_;
    std::string formula_;
    Span span_;
};

/// Where an error happened: the formula's text and the bytes in it.
struct Place {
    std::string_view formula;
    Span span;
};

/// Throws the Error of `code`. `{0}`, `{1}` … in the row's two texts are
/// replaced by `arguments`; the caret line is drawn under `place.span`, by
/// displayed column, when `place.formula` is not empty.
[[noreturn]] void fail(Code code, Place place,
                       std::initializer_list<std::string> arguments = {});
[[noreturn]] void fail(Code code,
                       std::initializer_list<std::string> arguments = {});

/// Returns the same text for a row that is told and not thrown.
std::string message_of(Code code, std::initializer_list<std::string> arguments);

/// Throws InternalError: a broken invariant of ours, never the user's fault.
[[noreturn]] void internal_error(std::string what);

} // namespace tilefold
