// compiler/backends/cuda/evaluate/vectors.h - the functions by which loops over
// tiles of pairs bring vectors, component by component, and weigh them.
#pragma once

#include "compiler/backends/cuda/evaluate/points.h"

namespace tilefold::cuda {

/// Writes RowAddress and ColumnAddress, and for each vector name_component,
/// which gives component d of it at a point; name_four, which gives four from
/// d on; and name_stored, which says where the components of an argument lie
/// that stores 16 bits, as an object Stored of device/stored.cuh.
void write_fetches(Writer& writer, const LoweredKernel& kernel);

/// Writes pair_weight(constants, row, column, k, product).
void write_pair_weight(Writer& writer, const LoweredKernel& kernel,
                       const Leaves& leaves);

} // namespace tilefold::cuda
