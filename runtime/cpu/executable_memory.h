// runtime/cpu/executable_memory.h - machine code in pages of its own.
#pragma once

#include "runtime/system/system.h"

#include <cstddef>
#include <span>

namespace tilefold::cpu {

/// A copy of machine code that may run. Its pages are written before they
/// become executable and never after; no page is ever both, and none has a
/// second mapping that may be written. A page that nothing may touch lies
/// before the code and one behind it.
///
/// Where the system refuses to make written pages executable, it goes another
/// way (system::execute_otherwise).
class ExecutableMemory {
public:
    /// Throws OutOfMemory, or NoExecutableMemory where both ways are refused.
    explicit ExecutableMemory(std::span<const std::byte> code);
    ~ExecutableMemory();
    ExecutableMemory(const ExecutableMemory&) = delete;
    ExecutableMemory& operator=(const ExecutableMemory&) = delete;

    std::byte* code() const { return at_.code; }
    std::size_t size() const { return size_; }

private:
    system::CodePages at_; ///< with a guard before the code and one behind it
    std::size_t size_ = 0;
};

} // namespace tilefold::cpu
