// runtime/cache.h - kernels in memory, by key.
#pragma once

#include "compiler/pipeline.h"
#include "runtime/cpu/image.h"

#include <cstdint>
#include <functional>
#include <future>
#include <list>
#include <memory>
#include <mutex>
#include <unordered_map>

namespace tilefold {

/// An artifact and its code in memory.
struct LoadedKernel {
    explicit LoadedKernel(Artifact made)
        : artifact(std::move(made)), image(artifact) {}

    Artifact artifact;
    cpu::Image image;
};
using KernelPointer = std::shared_ptr<const LoadedKernel>;

/// Keeps the kernels used last; a kernel lives on while somebody holds it.
class KernelCache {
public:
    /// Kernels kept, a few KB each.
    static constexpr std::size_t most = 1024;

    struct Found {
        KernelPointer kernel;
        bool was_there = false;
    };
    /// The kernel of `key`, made by `make` if need be: once, however many
    /// threads ask. What `make` throws reaches all of them, and the next
    /// call tries again.
    Found get(const Key& key, const std::function<KernelPointer()>& make);

    /// For fork(): nothing changes in between.
    void lock() { mutex_.lock(); }
    void unlock() { mutex_.unlock(); }

private:
    using Future = std::shared_future<KernelPointer>;
    struct KeyHash {
        std::size_t operator()(const Key& key) const {
            return std::size_t(key.words[0]);
        }
    };
    struct Entry {
        Key key;
        Future future;
    };

    Future* find(const Key& key);
    void add(const Key& key, Future future);
    void forget(const Key& key);

    std::mutex mutex_;
    std::list<Entry> entries_; ///< used last comes first
    std::unordered_map<Key, std::list<Entry>::iterator, KeyHash> by_key_;
};

} // namespace tilefold
