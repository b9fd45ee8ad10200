// runtime/core/per_thread.h - an object that each thread has one of.
#pragma once

#include <memory>
#include <new>
#include <pthread.h>

namespace tilefold {

/// By a key, not a thread_local: where memory runs out, the C library ends a
/// process that registers a destructor.
template <class T> class PerThread {
public:
    /// The one of the calling thread; null where there is no memory for it.
    static T* find() {
        static const Key key;
        if (!key.is_made)
            return nullptr;
        auto* own = static_cast<T*>(pthread_getspecific(key.key));
        if (own)
            return own;
        std::unique_ptr<T> made(new (std::nothrow) T);
        if (!made || pthread_setspecific(key.key, made.get()) != 0)
            return nullptr;
        return made.release();
    }

private:
    struct Key {
        Key() : is_made(pthread_key_create(&key, &end) == 0) {}
        static void end(void* own) { delete static_cast<T*>(own); }
        pthread_key_t key{};
        bool is_made;
    };
};

} // namespace tilefold
