// runtime/core/element.cpp - any dtype to double.

#include "runtime/core/element.h"

#include <Eigen/Core>
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

namespace tilefold {
namespace {

template <class T> T load(const void* address) {
    T value;
    std::memcpy(&value, address, sizeof value);
    return value;
}

template <class T> void store(T value, void* address) {
    std::memcpy(address, &value, sizeof value);
}

/// Rounded once. The float32 on the way is cut, and odd where something was
/// cut off: with more than two digits beyond those of a float16, it lies on the
/// same side of a tie as the double. C++'s own float16 is not in every
/// compiler.
Eigen::half half_of(double value) {
    auto nearest = float(value);
    if (double(nearest) != value) {
        auto bits = std::bit_cast<std::uint32_t>(nearest);
        if (std::abs(double(nearest)) > std::abs(value))
            --bits;
        nearest = std::bit_cast<float>(bits | 1);
    }
    return Eigen::half(nearest);
}

} // namespace

ir::Number number_at(const void* address, DType dtype) {
    switch (dtype) {
    case DType::F64:
        return load<double>(address);
    case DType::F32:
        return load<float>(address);
    case DType::F16:
        return float(load<Eigen::half>(address));
    case DType::BF16:
        return float(load<Eigen::bfloat16>(address));
    case DType::I64:
        return load<std::int64_t>(address);
    case DType::I32:
        return load<std::int32_t>(address);
    case DType::I16:
        return load<std::int16_t>(address);
    case DType::I8:
        return load<std::int8_t>(address);
    case DType::U64:
        return load<std::uint64_t>(address);
    case DType::U32:
        return load<std::uint32_t>(address);
    case DType::U16:
        return load<std::uint16_t>(address);
    case DType::U8:
        return load<std::uint8_t>(address);
    case DType::Bool:
        return int(load<std::uint8_t>(address) != 0);
    }
    return 0;
}

double element_at(const void* address, DType dtype) {
    return number_at(address, dtype).real;
}

void store_element(double value, DType dtype, void* address) {
    if (dtype == DType::F64)
        store(value, address);
    else if (dtype == DType::F32)
        store(float(value), address);
    else if (dtype == DType::F16)
        store(half_of(value), address);
    else if (dtype == DType::BF16)
        store(Eigen::bfloat16(float(value)), address);
    else {
        const auto whole = std::int64_t(value);
        std::memcpy(address, &whole, size_of(dtype));
    }
}

void ElementSums::reset(std::size_t count, DType dtype) {
    dtype_ = dtype;
    if (is_whole())
        wholes_.assign(count, 0);
    else
        reals_.assign(count, 0.0);
}

void ElementSums::add(std::size_t sum, const void* address) {
    if (is_whole())
        wholes_[sum] += Whole(load<std::int64_t>(address));
    else
        reals_[sum] += element_at(address, dtype_);
}

void ElementSums::store(const Output& out, bool accumulate) const {
    auto* data = static_cast<char*>(out.data);
    std::size_t number = 0;
    each_element(out.shape, out.strides, [&](std::int64_t offset) {
        char* place = data + offset;
        const std::size_t k = number++;
        if (is_whole() && out.dtype == DType::U64) { // by its bits
            const auto bits = std::uint64_t(wholes_[k]);
            std::memcpy(place, &bits, sizeof bits);
            return;
        }
        if (!is_whole() || out.dtype != DType::I64) {
            const double before = accumulate ? element_at(place, out.dtype) : 0;
            const double sum = is_whole() ? double(wholes_[k]) : reals_[k];
            return store_element(sum + before, out.dtype, place);
        }
        constexpr Whole least = std::numeric_limits<std::int64_t>::min();
        constexpr Whole most = std::numeric_limits<std::int64_t>::max();
        const std::int64_t before =
            accumulate ? std::int64_t(load<std::int64_t>(place)) : 0;
        const auto sum =
            std::int64_t(std::clamp(wholes_[k] + before, least, most));
        std::memcpy(place, &sum, sizeof sum);
    });
}

} // namespace tilefold
