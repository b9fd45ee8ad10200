// compiler/backends/cuda/evaluate/points.cpp - the functions that read memory.

#include "compiler/backends/cuda/evaluate/points.h"

#include "formulas/diagnostic.h"

#include <algorithm>

namespace tilefold::cuda {

using ir::Node;
using ir::Op;
using ir::ValueId;

namespace {

Code call_object() {
    return object("call");
}

Code field_of_operand(std::int64_t argument, std::string_view name) {
    const Code operands = member(Kind::Object, call_object(), "operands");
    return member(Kind::Long, element(Kind::Object, operands, whole(argument)),
                  name);
}

/// Returns the kind that load_<dtype> of device/memory.cuh gives.
Kind kind_loaded(DType stored) {
    switch (kind_of(stored)) {
    case DTypeKind::Float:
        return stored == DType::F64 ? Kind::Double : Kind::Float;
    case DTypeKind::Signed:
    case DTypeKind::Unsigned:
        return Kind::Long;
    case DTypeKind::Truth:
        return Kind::Truth;
    }
    internal_error("a dtype without a case");
}

/// Returns the first of the open argument's components in this part.
Code first_of_width() {
    return member(Kind::Long, object("place"), "first_component");
}

/// Returns the address of a double of call.constants of the batch.
Code place_in(const Code& array, std::int64_t offset) {
    return offset
               ? Code(Kind::Object,
                      array.text() + " + " + std::to_string(offset), Level::Sum)
               : array;
}

} // namespace

Code components_of_part() {
    return member(Kind::Int, object("place"), "components");
}

PointAddress::PointAddress(const ir::Graph& graph, Axes axis,
                           const std::vector<ValueId>& vectors)
    : graph_(graph), axis_(axis), vectors_(vectors),
      record_(axis == Axes::I ? "RowAddress" : "ColumnAddress") {
    const std::vector<bool> below = ir::reached(graph, vectors);
    for (ValueId id = 0; id < graph.nodes.size(); ++id) {
        const Node& node = graph[id];
        if (!below[id] || node.type.axes != axis)
            continue;
        if (node.op == Op::Index && !number_)
            number_ = record_.add("number", Kind::Long);
        if (node.op == Op::Argument && !fields_.count(node.first))
            fields_[node.first] =
                record_.add(name_of(graph, id), Kind::Address);
    }
}

Code PointAddress::number() const {
    return member(Kind::Long, object("address"), "number");
}

std::map<std::int64_t, Code> PointAddress::addresses() const {
    std::map<std::int64_t, Code> addresses;
    for (const auto& [argument, field] : fields_)
        addresses.emplace(argument,
                          field_of(object("address"), record_.fields()[field]));
    return addresses;
}

void PointAddress::write(Writer& writer, std::int32_t open) const {
    const bool is_row = axis_ == Axes::I;
    const Code number(Kind::Long, is_row ? "i" : "j");
    writer.record(record_);
    writer.blank();
    const Signature signature{record_.name(),
                              is_row ? "row_address" : "column_address",
                              {{"Call", By::Constant, "call"},
                               {"Place", By::Constant, "place"},
                               {"long long", By::Value, number.text()}}};
    writer.function(signature, [&] {
        const Code address = writer.declare(record_.name(), "address");
        PointReader reader(graph_, writer, axis_, number, open);
        reader.declare(vectors_);
        if (number_)
            writer.set(this->number(), number);
        for (const auto& [argument, place] : addresses())
            writer.set(place, reader.address(argument));
        writer.give(address);
    });
}

PointReader::PointReader(const ir::Graph& graph, Writer& writer, Axes axis,
                         Code point, std::int32_t open)
    : graph_(graph), writer_(writer), axis_(axis), point_(std::move(point)),
      open_(open) {}

PointReader::PointReader(const ir::Graph& graph, Writer& writer,
                         const PointAddress& address, std::int32_t open)
    : graph_(graph), writer_(writer), axis_(address.axis()),
      point_(address.number()), open_(open), addresses_(address.addresses()) {}

void PointReader::declare(const std::vector<ValueId>& roots) {
    const std::vector<bool> below = ir::reached(graph_, roots);
    for (ValueId id = 0; id < graph_.nodes.size(); ++id)
        if (below[id])
            declare(id);
}

void PointReader::declare(ValueId id) {
    const Node& node = graph_[id];
    if (node.op != Op::Argument || node.type.axes != axis_ ||
        addresses_.count(node.first))
        return;
    Code address =
        call(Kind::Address, "point",
             {call_object(), object("place"), whole(node.first), point_});
    if (node.first == open_)
        address = address +
                  first_of_width() * field_of_operand(node.first, "component");
    addresses_.emplace(node.first,
                       writer_.let(name_of(graph_, id) + "_at", address));
}

std::optional<Code> PointReader::read(ValueId id, const Component& at) const {
    const Node& node = graph_[id];
    if (node.type.axes != axis_)
        return std::nullopt;
    if (node.op == Op::Index)
        return point_;
    if (node.op == Op::Literal) {
        const Code literals = member(Kind::Object, call_object(), "literals");
        Code literal = element(Kind::Double, literals, whole(node.first));
        if (node.type.dtype != DType::I64)
            return literal;
        const Code number = call(Kind::Long, "saturated", {literal});
        return node.second < 0 ? -number : number;
    }
    if (node.op != Op::Argument)
        return std::nullopt;
    return load(node, at);
}

Code PointReader::load(const Node& node, const Component& at) const {
    const DType stored = graph_.arguments[std::size_t(node.first)].dtype;
    const auto loaded = [&](const Code& address) {
        const std::string function =
            "load_" + std::string(tilefold::spelling_of(stored));
        return as(kind_of_value(node.type.dtype),
                  call(kind_loaded(stored), function, {address}));
    };
    const Code base = addresses_.at(node.first);
    if (node.type.rank == 0)
        return loaded(base);
    const Code step = field_of_operand(node.first, "component");
    if (node.type.rank == 2) {
        const Code columns = whole(node.type.columns);
        const Code row = at.code() / columns, column = at.code() % columns;
        return loaded(base + row * step +
                      column * field_of_operand(node.first, "column"));
    }
    if (node.first == open_) {
        const Code value = loaded(base + at.code() * step);
        return choice(less(at.code(), components_of_part()), value,
                      number(value.kind(), 0));
    }
    if (!at.index && at.fixed == 0)
        return loaded(base);
    return loaded(base + at.code() * step);
}

Code PointReader::load_four(ValueId id, const Code& d) const {
    const Node& node = graph_[id];
    const DType stored = graph_.arguments[std::size_t(node.first)].dtype;
    const Code step = field_of_operand(node.first, "component");
    return call(Kind::Object,
                "load_four_" + std::string(tilefold::spelling_of(stored)),
                {addresses_.at(node.first) + d * step, step});
}

Code PointReader::has_four(const Code& d) const {
    return less(d + whole(3), components_of_part());
}

Code PointReader::stored(ValueId id) const {
    const Node& node = graph_[id];
    const Code count = node.first == open_ ? components_of_part()
                                           : whole(components_of(node.type));
    return Code(Kind::Object,
                "{" + addresses_.at(node.first).text() + ", " +
                    field_of_operand(node.first, "component").text() + ", " +
                    count.text() + "}");
}

std::optional<Code> read_constant(const Registers& registers, ValueId id,
                                  const Component& at) {
    const Constant* constant = registers.constant(id);
    if (!constant)
        return std::nullopt;
    return field_of(object("constants"),
                    registers.constants_record.fields()[constant->field],
                    at.code());
}

std::optional<Code> read_packed(const PointRecord& packed, const Code& object,
                                ValueId id, const Component& at) {
    const auto found = packed.fields.find(id);
    if (found == packed.fields.end())
        return std::nullopt;
    return field_of(object, packed.record.fields()[found->second], at.code());
}

void write_compute_constants(Writer& writer, const Registers& registers) {
    const ir::Graph& graph = registers.graph;
    const Signature signature{"void",
                              "compute_constants",
                              {{"Call", By::Constant, "call"},
                               {"Place", By::Constant, "place"},
                               {"double*", By::Value, "constants"}}};
    writer.function(signature, [&] {
        const Code constants = object("constants");
        std::vector<ValueId> roots;
        for (const Constant& constant : registers.constants)
            roots.push_back(constant.id);
        PointReader reader(graph, writer, Axes::None, number(Kind::Long, 0),
                           -1);
        reader.declare(roots);
        const Leaves leaves = [&](ValueId id, const Component& at) {
            return reader.read(id, at);
        };
        for (const Constant& constant : registers.constants) {
            const Code at = place_in(constants, constant.offset);
            if (constant.length == 0) {
                const Code first =
                    equal(Code(Kind::Int, "threadIdx.x"), whole(0));
                writer.when(first, [&] {
                    Values values(graph, writer, leaves);
                    writer.run("put", {at, values.value(constant.id)});
                });
                continue;
            }
            writer.share("k", constant.length, [&](const Code& k) {
                Values values(graph, writer, leaves);
                writer.run(
                    "put_element",
                    {at, k,
                     as(constant.kind, values.value(constant.id, {0, k}))});
            });
        }
    });
}

void write_load_constants(Writer& writer, const Registers& registers) {
    const Signature signature{
        "Constants",
        "load_constants",
        {{"Call", By::Constant, "call"}, {"Place", By::Constant, "place"}}};
    writer.function(signature, [&] {
        const Code constants = writer.declare("Constants", "constants");
        if (!registers.constants.empty()) {
            const Code from = writer.pointer(
                "from", "const double*",
                "call.constants + place.batch * call.constants_stride");
            for (const Constant& constant : registers.constants) {
                const Field& field =
                    registers.constants_record.fields()[constant.field];
                const Code at = place_in(from, constant.offset);
                const std::string type(spelling_of(constant.kind));
                const Code array =
                    call(Kind::Object, "array_at<" + type + ">", {at});
                const Code place = member(Kind::Object, constants, field.name);
                if (field.points)
                    writer.set(place, array);
                else if (field.length)
                    writer.loop("k", field.length, [&](const Code& k) {
                        writer.set(element(field.kind, place, k),
                                   element(field.kind, array, k));
                    });
                else
                    writer.run("take", {at, place});
            }
        }
        writer.give(constants);
    });
}

void write_load_point(Writer& writer, const LoweredKernel& kernel, Axes axis) {
    const Registers& registers = kernel.registers;
    const ir::Graph& graph = registers.graph;
    const bool is_row = axis == Axes::I;
    const PointRecord& packed = is_row ? registers.row : registers.column;
    const std::string type = packed.record.name();
    const Code point(Kind::Long, is_row ? "i" : "j");
    const Signature signature{type,
                              is_row ? "load_row" : "load_column",
                              {{"Call", By::Constant, "call"},
                               {"Constants", By::Constant, "constants"},
                               {"Place", By::Constant, "place"},
                               {"long long", By::Value, point.text()}}};
    writer.function(signature, [&] {
        const Code object = writer.declare(type, is_row ? "row" : "column");
        std::vector<ValueId> roots;
        for (const auto& [id, field] : packed.fields)
            roots.push_back(id);
        PointReader reader(graph, writer, axis, point, kernel.open);
        reader.declare(roots);
        std::map<ValueId, bool> done;
        const Leaves leaves = [&](ValueId id,
                                  const Component& at) -> std::optional<Code> {
            if (done.count(id))
                return read_packed(packed, object, id, at);
            if (auto constant = read_constant(registers, id, at))
                return constant;
            return reader.read(id, at);
        };
        Values values(graph, writer, leaves);
        for (const auto& [id, field] : packed.fields) {
            const ValueId root = id;
            values.each_component(
                root, components_of(graph[root].type),
                [&](const Component& at) {
                    const Code place = *read_packed(packed, object, root, at);
                    writer.set(place, as(place.kind(), values.value(root, at)));
                });
            done[root] = true;
        }
        writer.give(object);
    });
}

} // namespace tilefold::cuda
