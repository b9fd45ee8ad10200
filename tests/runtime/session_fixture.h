// tests/runtime/session_fixture.h - a Session with a cache of its own, and
// arrays to bind.
#pragma once

#include "tests/runtime/temporary_folder.h"

#include "formulas/diagnostic.h"
#include "runtime/session/session.h"

#include <gtest/gtest.h>
#include <random>
#include <string>
#include <vector>

namespace tilefold::test {

/// A C-contiguous array of values between -1 and 1.
template <class T> struct Values {
    Values(Extents shape, unsigned seed = 1) : shape(shape) {
        std::int64_t count = 1;
        for (std::int64_t extent : shape)
            count *= extent;
        std::mt19937 generator(seed);
        std::uniform_real_distribution<double> uniform(-1, 1);
        values.resize(std::size_t(count));
        for (T& value : values)
            value = T(uniform(generator));
    }
    Values(Extents shape, std::vector<T> values)
        : shape(std::move(shape)), values(std::move(values)) {}

    static constexpr DType dtype = std::is_same_v<T, double>  ? DType::F64
                                   : std::is_same_v<T, float> ? DType::F32
                                   : std::is_same_v<T, std::int64_t>
                                       ? DType::I64
                                       : DType::I32;
    View view() const { return View::of(values.data(), dtype, shape); }
    Output output() {
        View v = view();
        return {values.data(), dtype, v.shape, v.strides};
    }
    T& operator[](std::int64_t k) { return values[std::size_t(k)]; }
    const T& operator[](std::int64_t k) const { return values[std::size_t(k)]; }
    /// Element (row, component) of a matrix.
    const T& at(std::int64_t row, std::int64_t component) const {
        return values[std::size_t(row * shape.back() + component)];
    }

    Extents shape;
    std::vector<T> values;
};

inline NamedView named(std::string_view name, const View& view,
                       std::optional<Axes> declared = {}) {
    return {name, view, declared};
}
template <class T>
NamedView named(std::string_view name, const Values<T>& values) {
    return {name, values.view(), {}};
}
inline NamedView named(std::string_view name, double number) {
    return {name, View::of_number(number), {}};
}

class SessionTest : public testing::Test {
protected:
    Options options(int threads = 2) const {
        Options options;
        options.threads = threads;
        options.cache_directory = cache();
        options.log = false;
        return options;
    }
    std::string cache() const { return temporary_.path() / "cache"; }

    /// The message of what `call` throws, or "nothing thrown".
    template <class Call> static std::string message_of(Call call) {
        try {
            call();
            return "nothing thrown";
        } catch (const Error& error) {
            return error.what();
        }
    }

    TemporaryFolder temporary_;
    Session session{options()};
    std::string gaussian = "sum_j exp(-|x_i - y_j|²/2l²) b_j";
};

} // namespace tilefold::test
