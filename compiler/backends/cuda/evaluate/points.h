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

    /// Writes RowAddress and row_address(call, place, i), or ColumnAddress and
    /// column_address(call, place, j).
    void write(Writer& writer, std::int32_t open) const;

    Axes axis() const { return axis_; }
    const Record& record() const { return record_; }
    /// These read the parameter `address`: the point's number, and the
    /// addresses by argument.
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
    /// Reads point `point`, a Long, of `axis`; on Axes::None it reads
    /// parameters and literals. `open` is the argument of open width, or -1.
    PointReader(const ir::Graph& graph, Writer& writer, Axes axis, Code point,
                std::int32_t open);
    /// Reads in a function that has the parameter `address`.
    PointReader(const ir::Graph& graph, Writer& writer,
                const PointAddress& address, std::int32_t open);

    /// Declares the addresses of what is read below `roots`.
    void declare(const std::vector<ir::ValueId>& roots);
    /// Returns an argument, a literal or an index symbol of the axis, else
    /// none.
    std::optional<Code> read(ir::ValueId id, const Component& at) const;
    /// Returns the address of an argument that was declared.
    const Code& address(std::int64_t argument) const {
        return addresses_.at(argument);
    }

    /// Returns four components from `d` on of an argument that stores f32, f16
    /// or bf16, as an object Four. Of the argument of open width, it is good
    /// only where has_four().
    Code load_four(ir::ValueId id, const Code& d) const;
    Code has_four(const Code& d) const;
    /// Returns where the components of an argument lie, as an object Stored.
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

/// Returns how many components the part at `place` has of an open width.
Code components_of_part();

/// Returns a constant, as a function that has `constants` reads it.
std::optional<Code> read_constant(const Registers& registers, ir::ValueId id,
                                  const Component& at);
/// Returns a field of a packed record.
std::optional<Code> read_packed(const PointRecord& packed, const Code& object,
                                ir::ValueId id, const Component& at);

void write_compute_constants(Writer& writer, const Registers& registers);
void write_load_constants(Writer& writer, const Registers& registers);
/// Writes load_row or load_column.
void write_load_point(Writer& writer, const LoweredKernel& kernel, Axes axis);

} // namespace tilefold::cuda
