// runtime/bind/indices.h - arrays that are indices of a table, checked before a
// kernel reads the table by them.
#pragma once

#include "compiler/pipeline.h"
#include "runtime/bind/bind_shapes.h"
#include "runtime/bind/executable.h"
#include "runtime/core/callbacks.h"

#include <span>
#include <string>
#include <vector>

namespace tilefold {

/// The arguments that `program` takes as indices as they stand. What is
/// computed of others is checked by the kernel, which gives NaN.
std::vector<IndexedTable> tables_indexed(const Program& program);

/// Places in the call of the arguments that are tables.
std::vector<std::int32_t> tables_of(const Executable& executable);

/// An argument whose elements are to be indices; refers to what it was made
/// of.
struct IndexArray {
    std::string name;
    View view;
    const IndexedTable* indexed = nullptr;
};
std::vector<IndexArray> index_arrays(const Executable& executable,
                                     const BoundArguments& readings);

/// Throws where an element is no index of its table; one look at each place in
/// memory. Throws Error(Cancelled) where `goes_on` says so.
void check_indices(std::span<const IndexArray> arrays, const GoesOn& goes_on);

} // namespace tilefold
