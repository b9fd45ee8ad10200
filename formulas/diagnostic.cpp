// formulas/diagnostic.cpp - from a row of diagnostics.def to a whole message.
#include "formulas/diagnostic.h"

#include "formulas/excerpt.h"

#include <iterator>
#include <utility>

namespace tilefold {

namespace {

struct Row {
    std::string_view name;
    Family family;
    std::string_view found;
    std::string_view cure;
};

constexpr Row rows[] = {
#define DIAGNOSTIC(code, family, found, cure)                                  \
    {#code, Family::family, found, cure},
#include "formulas/diagnostics.def"
#undef DIAGNOSTIC
};

const Row& row(Code code) {
    return rows[static_cast<std::size_t>(code)];
}

/// Replaces `{0}` to `{9}`; other braces stay.
std::string fill(std::string_view text,
                 std::initializer_list<std::string> arguments) {
    std::string filled;
    for (std::size_t at = 0; at < text.size(); ++at) {
        const bool slot = text[at] == '{' && at + 2 < text.size() &&
                          text[at + 2] == '}' && text[at + 1] >= '0' &&
                          text[at + 1] <= '9';
        const auto index =
            static_cast<std::size_t>(slot ? text[at + 1] - '0' : 0);
        if (slot && index < arguments.size()) {
            filled += std::data(arguments)[index];
            at += 2;
        } else {
            filled += text[at];
        }
    }
    return filled;
}

} // namespace

Error::Error(Code code, std::string message, std::string formula, Span span)
    : code_(code), message_(std::move(message)), formula_(std::move(formula)),
      span_(span) {}

Family Error::family() const noexcept {
    return row(code_).family;
}

std::string_view Error::code_name() const noexcept {
    return row(code_).name;
}

namespace {

std::string whole_message(Code code, Place place,
                          std::initializer_list<std::string> arguments) {
    std::string message = fill(row(code).found, arguments);
    if (!place.formula.empty())
        message += "\n" + excerpt(place.formula, place.span);
    const std::string cure = fill(row(code).cure, arguments);
    if (!cure.empty())
        message += "\n" + cure;
    return message;
}

} // namespace

void fail(Code code, Place place,
          std::initializer_list<std::string> arguments) {
    throw Error(code, whole_message(code, place, arguments),
                std::string(place.formula), place.span);
}

std::string message_of(Code code,
                       std::initializer_list<std::string> arguments) {
    return whole_message(code, {}, arguments);
}

void fail(Code code, std::initializer_list<std::string> arguments) {
    fail(code, Place{}, arguments);
}

void internal_error(std::string what) {
    fail(Code::InternalError, {std::move(what)});
}

} // namespace tilefold
