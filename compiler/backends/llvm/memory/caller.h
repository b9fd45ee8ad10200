// compiler/backends/llvm/memory/caller.h - how a compile ends early.
//
// LLVM is built without exceptions: what is thrown through its functions runs
// none of their destructors. Between passes they have nothing in hand, and that
// is where EndsEarly is thrown. Where memory runs out all the same (reserve.h)
// they may have anything: objects of LLVM that such an exception passes are
// left as they are (Owned).
#pragma once

#include "compiler/backends/llvm/factory.h"
#include "compiler/backends/llvm/memory/reserve.h"

#include <exception>
#include <memory>
#include <string>
#include <string_view>

namespace tilefold::llvm_backend {

/// A compile ends between passes. No std::exception: it is nobody's error.
struct EndsEarly {};
/// Nobody waits for the result any more.
struct Abandoned : EndsEarly {};
/// The module has more instructions than are compiled.
struct TooLarge : EndsEarly {};

/// The library was built without the instruction set.
struct NoTarget : EndsEarly {
    explicit NoTarget(std::string_view isa) : isa(isa) {}
    std::string isa;
};

/// Memory was refused.
struct Starved : EndsEarly {};

/// Called between passes; throws Abandoned or Starved.
inline void go_on(const tilefold_caller& caller) {
    if (!has_reserve())
        throw Starved();
    if (caller.is_abandoned && caller.is_abandoned(caller.owner))
        throw Abandoned();
}

struct UnlessUnwinding {
    template <class T> void operator()(T* object) const {
        if (std::uncaught_exceptions() == 0)
            delete object;
    }
};
/// An object of LLVM, left as it is by an exception that passes it.
template <class T> using Owned = std::unique_ptr<T, UnlessUnwinding>;

/// Returns what `work` gives. Where it ends early, nothing is under way in
/// `owned`, which is destroyed.
template <class Work, class... Objects>
auto unless_early(const Work& work, Objects&... owned) {
    try {
        return work();
    } catch (const EndsEarly&) {
        (owned.reset(), ...);
        throw;
    }
}

} // namespace tilefold::llvm_backend
