// runtime/cpu/executable_memory.h - machine code in pages of its own.
#pragma once

#include <cstddef>
#include <span>

namespace tilefold::cpu {

/// A copy of machine code that may run. Its pages are written before they
/// become executable and never after; no page is ever both, and none has a
/// second mapping that may be written. A page that nothing may touch lies
/// before the code and one behind it.
///
/// Where the system refuses to make written pages executable (PR_SET_MDWE,
/// SELinux's execmem, PaX), the code goes through a sealed file in memory.
class ExecutableMemory {
public:
    /// Throws OutOfMemory, or NoExecutableMemory where both ways are refused.
    explicit ExecutableMemory(std::span<const std::byte> code);
    ~ExecutableMemory();
    ExecutableMemory(const ExecutableMemory&) = delete;
    ExecutableMemory& operator=(const ExecutableMemory&) = delete;

    std::byte* code() const { return code_; }
    std::size_t size() const { return size_; }

private:
    std::byte* pages_ = nullptr; ///< the guard before the code
    std::size_t mapped_ = 0;     ///< with both guards
    std::byte* code_ = nullptr;
    std::size_t size_ = 0;
};

} // namespace tilefold::cpu
