// compiler/backends/cuda/evaluate/vectors.h - the functions by which loops over
// tiles of pairs bring vectors, component by component, and weigh them.
#pragma once

#include "compiler/backends/cuda/evaluate/points.h"

namespace tilefold::cuda {

/// RowAddress and ColumnAddress, and name_component: component d of a vector
/// at a point; name_four: four from d on; name_stored: where the components of
/// an argument lie that stores 16 bits, an object Stored of device/stored.cuh.
void write_fetches(Writer& writer, const LoweredKernel& kernel);

/// pair_weight(constants, row, column, k, product)
void write_pair_weight(Writer& writer, const LoweredKernel& kernel,
                       const Leaves& leaves);

} // namespace tilefold::cuda
