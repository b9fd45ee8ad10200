// tests/cuda/fake_graph.cpp - see fake_graph.h: the driver's entry points of
// graphs, and what tests call to launch the one there is.

#include "tests/cuda/fake_graph.h"
#include "tests/cuda/fake_driver.h"

#include <utility>

extern "C" FakeDriver tilefold_fake_driver;

namespace fake {
namespace {

constexpr int success = 0, invalid = 1, relaxed = 2;

thread_local int capture_mode = 0;

void release(UserObject* object, unsigned count) {
    if ((object->references -= count) > 0)
        return;
    object->destroy(object->pointer);
    delete object;
    --tilefold_fake_driver.kept;
}

} // namespace

std::recursive_mutex& mutex() {
    static std::recursive_mutex of_all;
    return of_all;
}

Graph& graph() {
    static Graph instance;
    return instance;
}

bool is_forbidden() {
    if (!tilefold_fake_driver.captures || capture_mode == relaxed)
        return false;
    ++tilefold_fake_driver.refused;
    return true;
}

extern "C" {

int tilefold_fake_replay() {
    LOCKED;
    for (const std::function<int()>& node : graph().nodes)
        if (const int failed = node())
            return failed;
    return success;
}
void tilefold_fake_destroy_graph() {
    LOCKED;
    const Graph gone = std::exchange(graph(), {});
    for (const std::function<void()>& end : gone.at_end)
        end();
    for (UserObject* object : gone.objects)
        release(object, 1);
}

int cuThreadExchangeStreamCaptureMode(int* mode) {
    std::swap(*mode, capture_mode);
    return success;
}
int cuUserObjectCreate(UserObject** object, void* pointer,
                       void (*destroy)(void*), unsigned references,
                       unsigned flags) {
    LOCKED;
    constexpr unsigned no_destructor_sync = 1;
    if (flags != no_destructor_sync)
        return invalid;
    *object = new UserObject{pointer, destroy, references};
    ++tilefold_fake_driver.kept;
    return success;
}
int cuUserObjectRelease(UserObject* object, unsigned count) {
    LOCKED;
    release(object, count);
    return success;
}
int cuGraphRetainUserObject(Graph* into, UserObject* object, unsigned count,
                            unsigned flags) {
    LOCKED;
    constexpr unsigned move = 1;
    if (into != &graph() || count != 1 || flags != move)
        return invalid;
    into->objects.push_back(object);
    return success;
}

} // extern "C"
} // namespace fake
