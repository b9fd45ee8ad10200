// runtime/cache/cache.h - kernels in memory, by key.
#pragma once

#include "compiler/artifact/key.h"
#include "runtime/core/making.h"
#include "runtime/cpu/image.h"
#include "runtime/schedule/device_backend.h"

#include <cstdint>
#include <functional>
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

    using Maker = std::function<Pointer()>;

    struct Found {
        Pointer kernel;
        bool was_there = false;
    };
    /// The kernel of `key`, made here by `make` if need be: once, however many
    /// threads ask. What `make` throws reaches all of them, and the next
    /// call tries again.
    Found get(const Key& key, const Maker& make);

    // The same in steps, where another thread makes it:

    struct Joined {
        std::shared_ptr<Making<Pointer>> making;
        bool is_new = false; ///< the caller sees to it that it is made
    };
    Joined join(const Key& key);
    void make(const Key& key, Making<Pointer>& making, const Maker& maker);
    /// Waits for a kernel that was joined.
    Pointer wait(const Key& key, Making<Pointer>& making,
                 const GoesOn& goes_on);

    /// A fork() lies between these two, so that nothing changes meanwhile.
    void lock() { mutex_.lock(); }
    void unlock() { mutex_.unlock(); }

private:
    struct KeyHash {
        std::size_t operator()(const Key& key) const {
            return std::size_t(key.words[0]);
        }
    };
    struct Entry {
        Key key;
        std::shared_ptr<Making<Pointer>> making;
    };
    using Entries = std::list<Entry>;

    const Entry* find(const Key& key);
    void add(Entry entry);
    void forget(const Key& key, const Making<Pointer>& making);

    std::mutex mutex_;
    Entries entries_; ///< used last comes first
    std::unordered_map<Key, typename Entries::iterator, KeyHash> by_key_;
};

extern template class KernelCache<LoadedKernel>;
extern template class KernelCache<DeviceKernel>;

} // namespace tilefold
