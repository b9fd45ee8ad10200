// runtime/cpu/thread_functions.cpp - part of each shared library: what
// threadpoolctl calls of it, by these names.

#include "runtime/cpu/thread_limit.h"

#define EXPORTED extern "C" __attribute__((visibility("default")))

EXPORTED int tilefold_get_num_threads() noexcept {
    return tilefold::usual_threads();
}

EXPORTED void tilefold_set_num_threads(int threads) noexcept {
    tilefold::set_thread_limit(threads);
}
