// runtime/cache.cpp - a future per key: the first to ask makes the kernel, the
// others wait for it.

#include "runtime/cache.h"

namespace tilefold {

template <class Kernel>
typename KernelCache<Kernel>::Found
KernelCache<Kernel>::get(const Key& key, const std::function<Pointer()>& make) {
    std::promise<Pointer> promise;
    {
        std::unique_lock lock(mutex_);
        if (Future* known = find(key)) {
            Future future = *known;
            lock.unlock();
            return {future.get(), true};
        }
        add(key, promise.get_future().share());
    }
    try {
        Pointer kernel = make();
        promise.set_value(kernel);
        return {kernel, false};
    } catch (...) {
        forget(key);
        promise.set_exception(std::current_exception());
        throw;
    }
}

template <class Kernel>
typename KernelCache<Kernel>::Future*
KernelCache<Kernel>::find(const Key& key) {
    auto found = by_key_.find(key);
    if (found == by_key_.end())
        return nullptr;
    entries_.splice(entries_.begin(), entries_, found->second);
    return &found->second->future;
}

template <class Kernel>
void KernelCache<Kernel>::add(const Key& key, Future future) {
    entries_.push_front({key, std::move(future)});
    by_key_[key] = entries_.begin();
    if (entries_.size() > most) {
        by_key_.erase(entries_.back().key);
        entries_.pop_back();
    }
}

template <class Kernel> void KernelCache<Kernel>::forget(const Key& key) {
    std::lock_guard lock(mutex_);
    auto found = by_key_.find(key);
    if (found == by_key_.end())
        return;
    entries_.erase(found->second);
    by_key_.erase(found);
}

template class KernelCache<LoadedKernel>;
template class KernelCache<DeviceKernel>;

} // namespace tilefold
