// compiler/backends/cuda/text/refuse.h - what this backend has no code for.
#pragma once

#include "formulas/diagnostic.h"

#include <string>

namespace tilefold::cuda {

/// Throws Error(CudaCannot), which says what was met and what to do instead.
[[noreturn]] inline void refuse(const std::string& what,
                                const std::string& cure) {
    fail(tilefold::Code::CudaCannot, {what, cure});
}

} // namespace tilefold::cuda
