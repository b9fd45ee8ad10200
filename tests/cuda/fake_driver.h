// tests/cuda/fake_driver.h - what the fake driver pretends, and what it saw.
#pragma once

#include <cstddef>

/// Found under the name "tilefold_fake_driver".
struct FakeDriver {
    int version = 13000;
    int devices = 1;
    int capability = 90;
    std::size_t memory = std::size_t(1) << 30; ///< bytes of the card
    bool refuses_images = false; ///< as a card of another architecture
    const char* missing = "";    ///< an entry point that it does not have
    int order = 0;               ///< of a block's threads
    // What it saw.
    std::size_t used = 0;
    int contexts = 0; ///< pushed and not popped
    int launches = 0;
    unsigned largest_grid = 0;
    const void* stream = nullptr; ///< of the last launch
};
