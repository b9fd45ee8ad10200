// runtime/bind/result_sums.cpp - see result_sums.h.

#include "runtime/bind/result_sums.h"

#include "formulas/diagnostic.h"

#include <cstdint>
#include <new>
#include <string>
#include <utility>

namespace tilefold {

ResultSums::ResultSums(const View& like, Target written, const char* what,
                       const char* cure)
    : target(std::move(written)) {
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
