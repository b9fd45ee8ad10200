// compiler/backends/llvm/factory.h - the only door of libtilefold_llvm: plain
// C, so that no exception, no C++ type and no global crosses it.
#pragma once

#include <cstddef>
#include <cstdint>

extern "C" {

inline constexpr std::int32_t tilefold_llvm_abi = 4;

/// A module has at most so many of LLVM's instructions: 30 to 60 µs each (Zen
/// 4), where no pass takes more than its share.
inline constexpr std::size_t tilefold_most_instructions = 100'000;

/// Bytes owned by the library; give them back through `release`.
struct tilefold_bytes {
    char* data;
    std::size_t size;
};

/// What a compile asks of its caller; each may be null. Nothing may be thrown.
struct tilefold_caller {
    void* owner;
    /// Runs share(context) on the calling thread and on up to `helpers` others,
    /// as they become free, and returns when all that began it have returned:
    /// one alone must be able to do it all. Null: nobody helps.
    void (*together)(void* owner, std::int32_t helpers, void (*share)(void*),
                     void* context);
    /// Whether nobody waits for the result any more: asked between passes, on
    /// any of these threads; from then on it is true.
    bool (*is_abandoned)(void* owner);
};

/// How a compile ended. `result` holds what was asked for, a message where it
/// failed, the instruction set where it has no code for it, else nothing.
enum tilefold_outcome : std::int32_t {
    tilefold_made,
    tilefold_failed,
    tilefold_abandoned,
    tilefold_too_large, ///< more instructions than are compiled
    tilefold_no_memory,
    tilefold_no_target, ///< of a processor that the library was not built for
};

struct tilefold_llvm_backend {
    std::int32_t abi;    ///< tilefold_llvm_abi
    const char* version; ///< "22.1.0"
    /// Compiles a printed graph and plan to a serialised Artifact.
    tilefold_outcome (*compile)(const char* graph, std::size_t graph_size,
                                const char* plan, std::size_t plan_size,
                                tilefold_caller caller, tilefold_bytes* result);
    /// Gives the code as text: `what` is "llvm" (IR) or "asm".
    tilefold_outcome (*explain)(const char* graph, std::size_t graph_size,
                                const char* plan, std::size_t plan_size,
                                const char* what, tilefold_caller caller,
                                tilefold_bytes* result);
    void (*release)(tilefold_bytes bytes);
};

/// The library's one exported function, and the name it is looked up by.
typedef const tilefold_llvm_backend* tilefold_llvm_factory(void);
#define TILEFOLD_LLVM_FACTORY "tilefold_llvm_get_backend"

} // extern "C"
