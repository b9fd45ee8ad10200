// tests/numerics/aarch64/clones.h - loops are compiled once: every processor
// has the same vectors.
#pragma once

#define TILEFOLD_CLONES
