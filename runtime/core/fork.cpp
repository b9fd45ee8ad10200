// runtime/core/fork.cpp - the one pthread_atfork registration of the process.
//
// The system has no way to unregister a handler, so the list of guarded
// objects is the one thing here that belongs to the process and not to a
// Session; it is empty when no Session lives.

#include "runtime/core/fork.h"

#include <algorithm>
#include <mutex>
#include <pthread.h>
#include <ranges>
#include <vector>

namespace tilefold {
namespace {

struct Guarded {
    std::mutex mutex;
    std::vector<ForkGuarded*> objects;
};

/// Never destroyed: a fork may come during exit.
Guarded& guarded() {
    static auto* list = new Guarded;
    return *list;
}

void before() {
    guarded().mutex.lock();
    for (ForkGuarded* object : guarded().objects)
        object->before_fork();
}

void after(bool in_child) {
    for (ForkGuarded* object : std::views::reverse(guarded().objects))
        object->after_fork(in_child);
    guarded().mutex.unlock();
}

void register_handlers() {
    static std::once_flag once;
    std::call_once(once, [] {
        pthread_atfork(before, [] { after(false); }, [] { after(true); });
    });
}

} // namespace

void ForkGuarded::enlist() {
    register_handlers();
    std::lock_guard lock(guarded().mutex);
    guarded().objects.push_back(this);
}

void ForkGuarded::dismiss() {
    std::lock_guard lock(guarded().mutex);
    std::erase(guarded().objects, this);
}

} // namespace tilefold
