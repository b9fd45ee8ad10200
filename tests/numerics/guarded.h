// tests/numerics/guarded.h - memory whose first or last byte lies against a
// page that must not be touched: what sanitizers cannot see in generated
// code, the processor does.
#pragma once

#include <cstddef>

namespace tilefold::test {

/// Which end of the memory lies against a forbidden page.
enum class Flush { Front, Back };

class Guarded {
public:
    /// `bytes` of memory filled with `poison`; aligned to 64 bytes at the
    /// front, to `alignment` at the back.
    Guarded(std::size_t bytes, Flush flush, std::size_t alignment = 1,
            unsigned char poison = 0xff);
    ~Guarded();
    Guarded(const Guarded&) = delete;
    Guarded& operator=(const Guarded&) = delete;

    char* data() const { return data_; }
    std::size_t size() const { return bytes_; }

private:
    char* pages_ = nullptr;
    std::size_t mapped_ = 0;
    char* data_ = nullptr;
    std::size_t bytes_ = 0;
};

} // namespace tilefold::test
