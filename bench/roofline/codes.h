// bench/roofline/codes.h - what the functions of the library return.
#pragma once

enum {
    TilefoldRooflineOk = 0,
    TilefoldRooflineBadArgument = 1, ///< a null array, or a size out of range
    TilefoldRooflineNoAvx512 = 2,    ///< the processor lacks F, DQ, VL or BW
    TilefoldRooflineOutOfMemory = 3, ///< memory or a thread was refused
};
