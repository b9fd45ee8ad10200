// runtime/element.h - one element of an array as a double, slowly and for any
// dtype, and back; kernels do not use it.
#pragma once

#include "compiler/types.h"

namespace tilefold {

/// Any alignment; a long double holds every element.
long double exact_element_at(const void* address, DType dtype);
/// The same; 64-bit integers beyond 2^53 are rounded.
double element_at(const void* address, DType dtype);
/// Rounded to the nearest; an integer type takes what is before the point.
void store_element(double value, DType dtype, void* address);

} // namespace tilefold
