// bench/ceiling/codes.h - what the functions of the library return.
#pragma once

enum {
    TilefoldCeilingOk = 0,
    TilefoldCeilingBadArgument = 1, ///< a null array, or a size out of range
    TilefoldCeilingNoAvx512 = 2,    ///< the processor lacks F, DQ, VL or BW
    TilefoldCeilingOutOfMemory = 3, ///< memory or a thread was refused
};
