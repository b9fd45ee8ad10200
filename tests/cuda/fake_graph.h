// tests/cuda/fake_graph.h - the graph into which streams of the fake driver are
// captured, and what is forbidden meanwhile.
#pragma once

#include <functional>
#include <mutex>
#include <vector>

namespace fake {

/// Held by whoever does something: kernels run one at a time.
std::recursive_mutex& mutex();
#define LOCKED const std::lock_guard<std::recursive_mutex> locked(mutex())

struct UserObject {
    void* pointer;
    void (*destroy)(void*);
    long long references;
};

struct Graph {
    std::vector<std::function<int()>> nodes;   ///< each gives a status
    std::vector<std::function<void()>> at_end; ///< when the graph goes
    std::vector<UserObject*> objects;
};
/// There is one.
Graph& graph();

/// Whether a stream is captured, and the thread may not do what orders no work
/// of a stream; it is counted then.
bool is_forbidden();

} // namespace fake
