// runtime/c/guard.cpp - see guard.h.

#include "runtime/c/guard.h"

#include "runtime/c/error.h"

#include <exception>
#include <new>
#include <stdexcept>

namespace tilefold::c {
namespace {

/// The error of which nothing has to be allocated.
constinit tilefold_error no_memory{
    TILEFOLD_ERROR_MEMORY, "OutOfMemory", "out of memory", "", 0, 0};

struct OwnedError : tilefold_error {
    OwnedError(std::int32_t family, const char* code, std::string_view message,
               std::string_view formula, Span span)
        : tilefold_error{family, code, "", "", span.begin, span.end},
          message_text(message), formula_text(formula) {
        tilefold_error::message = message_text.c_str();
        tilefold_error::formula = formula_text.c_str();
    }

    std::string message_text, formula_text;
};

std::int32_t family_of(const Error& error) {
    switch (error.family()) {
    case Family::Formula:
        return TILEFOLD_ERROR_FORMULA;
    case Family::Shape:
        return TILEFOLD_ERROR_SHAPE;
    case Family::DType:
        return TILEFOLD_ERROR_DTYPE;
    case Family::Argument:
        return TILEFOLD_ERROR_ARGUMENT;
    case Family::OutOfMemory:
        return TILEFOLD_ERROR_MEMORY;
    case Family::Device:
        return TILEFOLD_ERROR_DEVICE;
    case Family::Cancelled:
        return TILEFOLD_ERROR_CANCELLED;
    case Family::Internal:
    case Family::Warning:
        break;
    }
    return TILEFOLD_ERROR_INTERNAL;
}

/// The exception that is being handled, unless it is that memory is missing.
tilefold_error* described() {
    try {
        throw;
    } catch (const Error& error) { // its code_name is a literal
        return new OwnedError(family_of(error), error.code_name().data(),
                              error.what(), error.formula(), error.span());
    } catch (const std::bad_alloc&) {
        return &no_memory;
    } catch (const std::length_error&) { // more than any memory
        return &no_memory;
    } catch (const std::exception& error) {
        return new OwnedError(TILEFOLD_ERROR_INTERNAL, "InternalError",
                              error.what(), "", {});
    } catch (...) {
        return new OwnedError(TILEFOLD_ERROR_INTERNAL, "InternalError",
                              "an unknown error", "", {});
    }
}

} // namespace

tilefold_error* current_error() noexcept {
    try {
        return described();
    } catch (...) { // describing it took memory
        return &no_memory;
    }
}

std::string text_of(const char* name, const char* text) {
    return &required(name, text, "a text that ends with NUL");
}

void require_count(const char* name, std::int64_t count, std::int64_t most) {
    if (count < 0 || count > most)
        fail(Code::BadCount, {name, std::to_string(count),
                              "from 0 to " + std::to_string(most)});
}

bool truth_of(const char* name, std::int32_t value) {
    require_choice(name, value, 2);
    return value == 1;
}

void require_unused(const char* name, std::int32_t value) {
    if (value != 0)
        fail(Code::BadCount, {name, std::to_string(value), "0"});
}

void require_choice(const char* name, std::int32_t value, std::int32_t count) {
    if (value < 0 || value >= count)
        fail(Code::BadCount, {name, std::to_string(value),
                              "from 0 to " + std::to_string(count - 1)});
}

} // namespace tilefold::c

using namespace tilefold::c;

std::int32_t tilefold_error_family(const tilefold_error* error) noexcept {
    return error ? error->family : 0;
}

const char* tilefold_error_code(const tilefold_error* error) noexcept {
    return error ? error->code : "";
}

const char* tilefold_error_message(const tilefold_error* error) noexcept {
    return error ? error->message : "";
}

const char* tilefold_error_formula(const tilefold_error* error) noexcept {
    return error ? error->formula : "";
}

void tilefold_error_span(const tilefold_error* error, std::int64_t* begin,
                         std::int64_t* end) noexcept {
    if (begin)
        *begin = error ? error->begin : 0;
    if (end)
        *end = error ? error->end : 0;
}

void tilefold_error_free(tilefold_error* error) noexcept {
    if (error && error != &no_memory)
        delete static_cast<OwnedError*>(error);
}
