// runtime/cache.cpp - a future per key: the first to ask makes the kernel, the
// others wait for it.

#include "runtime/cache.h"

namespace tilefold {

KernelCache::Found
KernelCache::get(const Key& key, const std::function<KernelPointer()>& make) {
    std::promise<KernelPointer> promise;
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
        KernelPointer kernel = make();
        promise.set_value(kernel);
        return {kernel, false};
    } catch (...) {
        forget(key);
        promise.set_exception(std::current_exception());
        throw;
    }
}

KernelCache::Future* KernelCache::find(const Key& key) {
    auto found = by_key_.find(key);
    if (found == by_key_.end())
        return nullptr;
    entries_.splice(entries_.begin(), entries_, found->second);
    return &found->second->future;
}

void KernelCache::add(const Key& key, Future future) {
    entries_.push_front({key, std::move(future)});
    by_key_[key] = entries_.begin();
    if (entries_.size() > most) {
        by_key_.erase(entries_.back().key);
        entries_.pop_back();
    }
}

void KernelCache::forget(const Key& key) {
    std::lock_guard lock(mutex_);
    auto found = by_key_.find(key);
    if (found == by_key_.end())
        return;
    entries_.erase(found->second);
    by_key_.erase(found);
}

} // namespace tilefold
