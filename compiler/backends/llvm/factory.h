// compiler/backends/llvm/factory.h - the only door of libtilefold_llvm: plain
// C, so that no exception, no C++ type and no global crosses it.
#pragma once

#include <cstddef>
#include <cstdint>

extern "C" {

inline constexpr std::int32_t tilefold_llvm_abi = 2;

/// Bytes owned by the library; give them back through `release`.
struct tilefold_bytes {
    char* data;
    std::size_t size;
};

/// Threads of the caller that may help. `together` runs share(context) on the
/// calling thread and on up to `helpers` others, as they become free, and
/// returns when all that began it have returned: one alone must be able to do
/// it all, and nothing may be thrown. Null: nobody helps.
struct tilefold_helpers {
    void* owner;
    void (*together)(void* owner, std::int32_t helpers, void (*share)(void*),
                     void* context);
};

struct tilefold_llvm_backend {
    std::int32_t abi;    ///< tilefold_llvm_abi
    const char* version; ///< "22.1.0"
    /// Printed graph and plan to a serialised Artifact. Returns 0, or 1 with
    /// a message in `result`.
    std::int32_t (*compile)(const char* graph, std::size_t graph_size,
                            const char* plan, std::size_t plan_size,
                            tilefold_helpers helpers, tilefold_bytes* result);
    /// The same as text: `what` is "llvm" (IR) or "asm".
    std::int32_t (*explain)(const char* graph, std::size_t graph_size,
                            const char* plan, std::size_t plan_size,
                            const char* what, tilefold_bytes* result);
    void (*release)(tilefold_bytes bytes);
};

/// The one exported function, and the name it is looked up by.
typedef const tilefold_llvm_backend* tilefold_llvm_factory(void);
#define TILEFOLD_LLVM_FACTORY "tilefold_llvm_get_backend"

} // extern "C"
