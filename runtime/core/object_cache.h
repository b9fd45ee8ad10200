// runtime/core/object_cache.h - something that runs need one at a time, kept
// between them.
#pragma once

#include <atomic>
#include <memory>

namespace tilefold {

/// Holds at most one object that no run is using. Runs one after the other
/// hand it on; runs at the same time make their own, of which one is kept.
template <class T> class ObjectCache {
public:
    ObjectCache() = default;
    ~ObjectCache() { delete idle_.load(); }
    ObjectCache(const ObjectCache&) = delete;
    ObjectCache& operator=(const ObjectCache&) = delete;

    /// Null where there is none.
    std::unique_ptr<T> take() {
        return std::unique_ptr<T>(idle_.exchange(nullptr));
    }
    void give(std::unique_ptr<T> object) {
        delete idle_.exchange(object.release());
    }

private:
    std::atomic<T*> idle_ = nullptr;
};

} // namespace tilefold
