// runtime/cache/cache.cpp - a making per key: the first to ask sees to it, the
// others wait for it.

#include "runtime/cache/cache.h"

namespace tilefold {

template <class Kernel>
typename KernelCache<Kernel>::Found
KernelCache<Kernel>::get(const Key& key, const Maker& maker) {
    const auto [making, is_new] = join(key);
    if (is_new)
        make(key, *making, maker);
    return {wait(key, *making, {}), !is_new};
}

template <class Kernel>
typename KernelCache<Kernel>::Joined KernelCache<Kernel>::join(const Key& key) {
    const std::lock_guard lock(mutex_);
    if (const Entry* known = find(key); known && known->making->join())
        return {known->making, false};
    auto making = std::make_shared<Making<Pointer>>();
    making->join();
    add({key, making});
    return {making, true};
}

template <class Kernel>
void KernelCache<Kernel>::make(const Key& key, Making<Pointer>& making,
                               const Maker& maker) {
    try {
        making.set(maker());
    } catch (...) {
        forget(key, making);
        making.set_error(std::current_exception());
    }
}

template <class Kernel>
typename KernelCache<Kernel>::Pointer
KernelCache<Kernel>::wait(const Key& key, Making<Pointer>& making,
                          const GoesOn& goes_on) {
    try {
        return making.wait(goes_on);
    } catch (...) {
        if (making.is_abandoned())
            forget(key, making);
        throw;
    }
}

template <class Kernel>
const typename KernelCache<Kernel>::Entry*
KernelCache<Kernel>::find(const Key& key) {
    auto found = by_key_.find(key);
    if (found == by_key_.end())
        return nullptr;
    entries_.splice(entries_.begin(), entries_, found->second);
    return &*found->second;
}

/// Adds an entry in the place of one of the same key.
template <class Kernel> void KernelCache<Kernel>::add(Entry entry) {
    if (auto old = by_key_.find(entry.key); old != by_key_.end()) {
        entries_.erase(old->second);
        by_key_.erase(old);
    }
    entries_.push_front(std::move(entry));
    try {
        by_key_[entries_.front().key] = entries_.begin();
    } catch (...) {
        entries_.pop_front();
        throw;
    }
    if (entries_.size() > most) {
        by_key_.erase(entries_.back().key);
        entries_.pop_back();
    }
}

/// Another one may have come in its place.
template <class Kernel>
void KernelCache<Kernel>::forget(const Key& key,
                                 const Making<Pointer>& making) {
    const std::lock_guard lock(mutex_);
    auto found = by_key_.find(key);
    if (found == by_key_.end() || found->second->making.get() != &making)
        return;
    entries_.erase(found->second);
    by_key_.erase(found);
}

template class KernelCache<LoadedKernel>;
template class KernelCache<DeviceKernel>;

} // namespace tilefold
