// runtime/bind/result_sums.cpp - see result_sums.h.

#include "runtime/bind/result_sums.h"

#include "formulas/diagnostic.h"

#include <cstdint>
#include <new>
#include <string>
#include <utility>

namespace tilefold {
namespace {

/// The distance between sums of results of `shape`, for each dimension.
Extents strides_of_sums(const Extents& shape, const std::vector<bool>& summed) {
    Extents strides(shape.size(), 0);
    std::int64_t stride = 1;
    for (std::size_t d = strides.size(); d-- > 0;) {
        if (d < summed.size() && summed[d])
            continue;
        strides[d] = stride;
        stride *= shape[d];
    }
    return strides;
}

} // namespace

ResultSums::ResultSums(const View& like, Target written,
                       const std::vector<bool>& summed, const char* what,
                       const char* cure)
    : target(std::move(written)), strides(strides_of_sums(like.shape, summed)) {
    const double bytes = like.dense_bytes();
    try {
        if (bytes > 0x1p62)
            throw std::bad_alloc();
        results.resize(std::size_t(bytes));
    } catch (const std::bad_alloc&) {
        fail(Code::OutOfMemory,
             {what, std::to_string(std::int64_t(bytes / 1e6)) + " MB", cure});
    }
    target.data = reinterpret_cast<char*>(results.data());
}

void ResultSums::reset(std::int64_t count, DType dtype) {
    try {
        sums.reset(std::size_t(count), dtype);
    } catch (const std::bad_alloc&) {
        fail(Code::OutOfMemory,
             {"sums of results", std::to_string(count * 8 / 1000000) + " MB",
              "take fewer points at a time"});
    }
}

} // namespace tilefold
