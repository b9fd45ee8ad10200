// tests/numerics/x86_64/clones.h - loops compiled once for each generation.
#pragma once

#define TILEFOLD_CLONES                                                        \
    __attribute__((                                                            \
        target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
