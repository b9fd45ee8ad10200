// tests/cuda/fake_driver.h - what the fake driver pretends, and what it saw.
#pragma once

/// Found under the name "tilefold_fake_driver".
struct FakeDriver {
    long long version = 13000;
    long long devices = 1;
    long long capability = 90;
    long long memory = 1ll << 30; ///< bytes of the card
    long long refuses_images = 0; ///< as a card of another architecture
    long long invalid_images = 0; ///< that it refuses, of those that follow
    long long refuses_pinned = 0; ///< memory of the host
    long long skips = 0;          ///< whether kernels do nothing
    long long gone = 0;           ///< whether it has ended, with its process
    /// Whether streams that others made are captured into a graph: what is
    /// queued on one waits until the graph is launched.
    long long captures = 0;
    const char* missing = ""; ///< an entry point that it does not have
    long long order = 0;      ///< of a block's threads
    // What it saw.
    long long initialised = 0; ///< calls of cuInit
    long long used = 0;
    long long pinned = 0; ///< blocks of the host's memory
    int contexts = 0;     ///< pushed and not popped
    long long launches = 0, loads = 0, waits = 0;
    long long kernels_not_found = 0; ///< of modules that were asked for them
    long long refused = 0;     ///< calls that a capture forbids: they broke it
    long long kept = 0;        ///< objects that graphs hold
    unsigned largest_grid = 0; ///< its blocks in x
    int most_shared = 99 * 1024;  ///< that a block may ask for
    int shared = 48 * 1024;       ///< that one may have
    const void* stream = nullptr; ///< of the last launch
};
