// python_bindings/text_caster.h - str to std::string, where memory may run out.
//
// nanobind's own caster makes the string where nothing may be thrown, which
// ends the process; this one makes it where the function is called.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace nanobind::detail {

template <> struct type_caster<std::string> {
    using Value = std::string;
    static constexpr auto Name = const_name("str");
    template <class> using Cast = std::string;
    template <class> static constexpr bool can_cast() { return true; }

    bool from_python(handle source, std::uint32_t, cleanup_list*) noexcept {
        Py_ssize_t size = 0;
        const char* bytes = PyUnicode_Check(source.ptr())
                                ? PyUnicode_AsUTF8AndSize(source.ptr(), &size)
                                : nullptr;
        if (!bytes) {
            PyErr_Clear();
            return false;
        }
        text_ = {bytes, std::size_t(size)}; // the object's, which is borrowed
        return true;
    }

    static handle from_cpp(const std::string& value, rv_policy,
                           cleanup_list*) noexcept {
        return PyUnicode_FromStringAndSize(value.data(),
                                           Py_ssize_t(value.size()));
    }

    explicit operator std::string() const { return std::string(text_); }

private:
    std::string_view text_;
};

} // namespace nanobind::detail
