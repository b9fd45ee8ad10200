// runtime/cache.h - kernels in memory, by key.
#pragma once

#include "compiler/pipeline.h"
#include "runtime/cpu/image.h"
#include "runtime/device_backend.h"

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
/// `Kernel`: a LoadedKernel, or a DeviceKernel.
template <class Kernel> class KernelCache {
public:
    using Pointer = std::shared_ptr<const Kernel>;

    /// Kernels kept, a few KB each.
    static constexpr std::size_t most = 1024;

    struct Found {
        Pointer kernel;
        bool was_there = false;
    };
    /// The kernel of `key`, made by `make` if need be: once, however many
    /// threads ask. What `make` throws reaches all of them, and the next
    /// call tries again.
    Found get(const Key& key, const std::function<Pointer()>& make);

    /// For fork(): nothing changes in between.
    void lock() { mutex_.lock(); }
    void unlock() { mutex_.unlock(); }

private:
    using Future = std::shared_future<Pointer>;
    struct KeyHash {
        std::size_t operator()(const Key& key) const {
            return std::size_t(key.words[0]);
        }
    };
    struct Entry {
        Key key;
        Future future;
    };
    using Entries = std::list<Entry>;

    Future* find(const Key& key);
    void add(const Key& key, Future future);
    void forget(const Key& key);

    std::mutex mutex_;
    Entries entries_; ///< used last comes first
    std::unordered_map<Key, typename Entries::iterator, KeyHash> by_key_;
};

extern template class KernelCache<LoadedKernel>;
extern template class KernelCache<DeviceKernel>;

} // namespace tilefold
