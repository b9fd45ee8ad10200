// compiler/backends/cuda/evaluate/points.h - the functions that read memory:
// Constants, a Row, a Column, and the function that computes what is on {}.
#pragma once

#include "compiler/backends/cuda/evaluate/evaluate.h"

#include <map>

namespace tilefold::cuda {

/// Where the arguments lie that some vectors on an axis are made of, at one
/// point: a structure that is found once, and read component by component.
class PointAddress {
public:
    PointAddress(const ir::Graph& graph, Axes axis,
                 const std::vector<ir::ValueId>& vectors);

    /// RowAddress and row_address(call, place, i); or ColumnAddress and
    /// column_address(call, place, j).
    void write(Writer& writer, std::int32_t open) const;

    Axes axis() const { return axis_; }
    const Record& record() const { return record_; }
    /// Of the parameter `address`: the number and the addresses by argument.
    Code number() const;
    std::map<std::int64_t, Code> addresses() const;

private:
    const ir::Graph& graph_;
    Axes axis_;
    std::vector<ir::ValueId> vectors_;
    Record record_;
    std::map<std::int64_t, std::size_t> fields_; ///< by argument
    std::optional<std::size_t> number_;          ///< where an index is read
};

/// Reads the arguments of a graph at one point of an axis, in the function
/// being written.
class PointReader {
public:
    /// `point`, a Long, is read of `axis`; on Axes::None parameters are, and
    /// literals. `open`: the argument of open width, or -1.
    PointReader(const ir::Graph& graph, Writer& writer, Axes axis, Code point,
                std::int32_t open);
    /// In a function with the parameter `address`.
    PointReader(const ir::Graph& graph, Writer& writer,
                const PointAddress& address, std::int32_t open);

    /// Declares the addresses of what is read below `roots`.
    void declare(const std::vector<ir::ValueId>& roots);
    /// An argument, literal or index symbol of the axis.
    std::optional<Code> read(ir::ValueId id, const Component& at) const;
    /// The address of an argument that was declared.
    const Code& address(std::int64_t argument) const {
        return addresses_.at(argument);
    }

    /// Four components from `d` on of an argument that stores f32, f16 or
    /// bf16, as an object Four; of the one of open width, where it has them.
    Code load_four(ir::ValueId id, const Code& d) const;
    Code has_four(const Code& d) const;
    /// Where the components of an argument lie, as an object Stored.
    Code stored(ir::ValueId id) const;

private:
    void declare(ir::ValueId id);
    Code load(const ir::Node& node, const Component& at) const;

    const ir::Graph& graph_;
    Writer& writer_;
    Axes axis_;
    Code point_;
    std::int32_t open_;
    std::map<std::int64_t, Code> addresses_; ///< by argument
};

/// Of an open width, how many components the part at `place` has.
Code components_of_part();

/// A constant as a function reads it that has `constants`.
std::optional<Code> read_constant(const Registers& registers, ir::ValueId id,
                                  const Component& at);
/// A field of a packed record.
std::optional<Code> read_packed(const PointRecord& packed, const Code& object,
                                ir::ValueId id, const Component& at);

void write_compute_constants(Writer& writer, const Registers& registers);
void write_load_constants(Writer& writer, const Registers& registers);
/// load_row or load_column.
void write_load_point(Writer& writer, const LoweredKernel& kernel, Axes axis);

} // namespace tilefold::cuda
