// runtime/c/guard.h - the edge of the C interface: C++ errors as
// tilefold_error, and what every function checks of its pointers and counts.
#pragma once

#include "formulas/diagnostic.h"

#include <tilefold/tilefold.h>

#include <cstdint>
#include <span>
#include <string>

namespace tilefold::c {

/// The exception that is being handled. Allocates, and where that fails gives
/// an error that is always there.
tilefold_error* current_error() noexcept;

/// Runs the body of a function that can fail; whatever it throws is returned.
template <class Body> tilefold_error* guarded(Body&& body) noexcept {
    try {
        body();
        return nullptr;
    } catch (...) {
        return current_error();
    }
}

/// Throws Error(NullPointer) for NULL: `cure` says what to pass.
template <class T> T& required(const char* name, T* pointer, const char* cure) {
    if (!pointer)
        fail(Code::NullPointer, {name, cure});
    return *pointer;
}

/// A handle that the library made.
template <class T> T& handle(const char* name, T* pointer) {
    return required(name, pointer,
                    "the handle that a function of tilefold gave");
}

/// Where a function writes what it makes.
template <class T> T*& output(T** out) {
    return required("out", out, "the address of a pointer");
}

/// Throws Error(NullPointer) for NULL.
std::string text_of(const char* name, const char* text);

/// What a caller can have in memory of elements of 8 bytes.
inline constexpr std::int64_t most_elements = std::int64_t(1) << 44;
/// Arguments and names of a call.
inline constexpr std::int64_t most_names = 1 << 16;

/// Throws Error(BadCount) for a count that is negative or more than `most`.
void require_count(const char* name, std::int64_t count, std::int64_t most);

/// `count` elements of the caller's; NULL is fine for none. Throws Error
/// (NullPointer, BadCount).
template <class T>
std::span<T> list_of(const char* name, T* first, std::int64_t count,
                     std::int64_t most) {
    require_count(name, count, most);
    if (count > 0)
        static_cast<void>(
            required(name, first, "as many elements as the count says"));
    return {first, std::size_t(count)};
}

/// Throws Error(BadOption) for a field that is neither 0 nor 1.
bool truth_of(const char* name, std::int32_t value);
/// Throws Error(BadOption) for anything but 0.
void require_unused(const char* name, std::int32_t value);
/// Throws Error(BadOption) for a choice that is not below `count`.
void require_choice(const char* name, std::int32_t value, std::int32_t count);

} // namespace tilefold::c
