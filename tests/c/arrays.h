// tests/c/arrays.h - arrays and handles for tests of the C interface, which use
// nothing but tilefold.h.
#pragma once

#include <tilefold/tilefold.h>

#include <complex>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <gtest/gtest.h>
#include <memory>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

namespace tilefold::test {

template <class T> DLDataType type_of() {
    if constexpr (std::is_same_v<T, std::complex<double>>)
        return {kDLComplex, 128, 1};
    else if constexpr (std::is_integral_v<T>)
        return {kDLInt, std::uint8_t(8 * sizeof(T)), 1};
    else
        return {kDLFloat, std::uint8_t(8 * sizeof(T)), 1};
}

/// An array of values between -1 and 1, in the order of C.
template <class T> class Array {
public:
    explicit Array(std::vector<std::int64_t> extents, unsigned seed = 1)
        : shape(std::move(extents)) {
        std::int64_t count = 1;
        for (const std::int64_t extent : shape)
            count *= extent;
        values.resize(std::size_t(count));
        std::mt19937 generator(seed);
        std::uniform_real_distribution<double> uniform(-1, 1);
        for (T& value : values)
            if constexpr (std::is_same_v<T, std::complex<double>>)
                value = {uniform(generator), uniform(generator)};
            else
                value = T(uniform(generator));
        tensor.data = values.data();
        tensor.device = {kDLCPU, 0};
        tensor.ndim = std::int32_t(shape.size());
        tensor.dtype = type_of<T>();
        tensor.shape = shape.data();
    }
    Array(const Array&) = delete;
    Array& operator=(const Array&) = delete;

    T& operator()(std::int64_t row, std::int64_t column) {
        return values[std::size_t(row * shape.back() + column)];
    }
    T& operator[](std::int64_t k) { return values[std::size_t(k)]; }

    std::vector<std::int64_t> shape;
    std::vector<T> values;
    DLTensor tensor{};
};

struct Free {
    void operator()(tilefold_error* p) const { tilefold_error_free(p); }
    void operator()(tilefold_session* p) const { tilefold_session_free(p); }
    void operator()(tilefold_formula* p) const { tilefold_formula_free(p); }
    void operator()(tilefold_bound* p) const { tilefold_bound_free(p); }
    void operator()(tilefold_ranges* p) const { tilefold_ranges_free(p); }
    void operator()(tilefold_neighbors* p) const { tilefold_neighbors_free(p); }
    void operator()(DLManagedTensorVersioned* p) const {
        tilefold_tensor_free(p);
    }
    void operator()(char* p) const { tilefold_text_free(p); }
};
template <class T> using Owned = std::unique_ptr<T, Free>;

/// Fails the test with the message where there is an error.
inline void expect_success(tilefold_error* error) {
    const Owned<tilefold_error> owned(error);
    EXPECT_EQ(error, nullptr) << tilefold_error_message(error);
}

/// "BadCount" of an error, which is freed; "nothing" of success.
inline std::string code_of(tilefold_error* error) {
    const Owned<tilefold_error> owned(error);
    return error ? tilefold_error_code(error) : "nothing";
}

inline const double* doubles_of(const Owned<DLManagedTensorVersioned>& made) {
    return static_cast<const double*>(made->dl_tensor.data);
}

/// A session whose kernels are kept in a folder that goes with the program.
class SessionTest : public testing::Test {
protected:
    SessionTest() {
        static const Folder folder;
        const std::string cache = folder.path.string();
        tilefold_options options = TILEFOLD_OPTIONS_INIT;
        options.threads = 2;
        options.cache_directory = cache.c_str();
        expect_success(tilefold_session_create(&options, &made_));
        session.reset(made_);
    }

    Owned<tilefold_formula> parse(const char* text) {
        tilefold_formula* formula = nullptr;
        expect_success(tilefold_formula_parse(session.get(), text, &formula));
        return Owned<tilefold_formula>(formula);
    }
    static Owned<tilefold_bound>
    bind(const Owned<tilefold_formula>& formula,
         const std::vector<tilefold_argument>& arguments,
         const tilefold_bind_options* options = nullptr) {
        tilefold_bound* bound = nullptr;
        expect_success(tilefold_bind(formula.get(), arguments.data(),
                                     std::int64_t(arguments.size()), options,
                                     &bound));
        return Owned<tilefold_bound>(bound);
    }
    Owned<DLManagedTensorVersioned>
    reduce(const char* text, const std::vector<tilefold_argument>& arguments) {
        DLManagedTensorVersioned* result = nullptr;
        expect_success(tilefold_reduce(session.get(), text, arguments.data(),
                                       std::int64_t(arguments.size()), nullptr,
                                       &result));
        return Owned<DLManagedTensorVersioned>(result);
    }

    Owned<tilefold_session> session;

private:
    struct Folder {
        Folder() {
            std::string pattern =
                std::filesystem::temp_directory_path() / "tilefold-XXXXXX";
            path = mkdtemp(pattern.data());
        }
        ~Folder() {
            std::error_code ignored;
            std::filesystem::remove_all(path, ignored);
        }
        std::filesystem::path path;
    };
    tilefold_session* made_ = nullptr;
};

} // namespace tilefold::test
