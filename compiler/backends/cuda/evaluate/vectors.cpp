// compiler/backends/cuda/evaluate/vectors.cpp - see vectors.h.

#include "compiler/backends/cuda/evaluate/vectors.h"

#include <algorithm>

namespace tilefold::cuda {
namespace {

using ir::ValueId;

Signature component_of(const PointAddress& address, const std::string& result,
                       const std::string& name) {
    return {result,
            name,
            {{"Call", By::Constant, "call"},
             {"Constants", By::Constant, "constants"},
             {"Place", By::Constant, "place"},
             {address.record().name(), By::Constant, "address"},
             {"int", By::Value, "d"}}};
}

Code component() {
    return {Kind::Int, "d"};
}

void write_one(Writer& writer, const LoweredKernel& kernel,
               const PointAddress& address, const FetchedVector& vector) {
    const std::string name = std::string(vector.name) + "_component";
    writer.function(component_of(address, "float", name), [&] {
        const PointReader reader(kernel.registers.graph, writer, address,
                                 kernel.open);
        const Leaves leaves = [&](ValueId id,
                                  const Component& at) -> std::optional<Code> {
            if (auto constant = read_constant(kernel.registers, id, at))
                return constant;
            return reader.read(id, at);
        };
        Values values(kernel.registers.graph, writer, leaves);
        writer.give(as(Kind::Float, values.value(vector.id, {0, component()})));
    });
}

void write_four(Writer& writer, const LoweredKernel& kernel,
                const PointAddress& address, const FetchedVector& vector) {
    const std::string name(vector.name);
    const ir::Graph& graph = kernel.registers.graph;
    writer.function(component_of(address, "Four", name + "_four"), [&] {
        const PointReader reader(graph, writer, address, kernel.open);
        const bool lies_so = vector.fetch != Fetch::Computed;
        if (lies_so && graph[vector.id].first != kernel.open)
            return writer.give(reader.load_four(vector.id, component()));
        if (lies_so)
            writer.when(reader.has_four(component()), [&] {
                writer.give(reader.load_four(vector.id, component()));
            });
        const Code four = writer.declare("Four", "four");
        writer.loop("q", 4, [&](const Code& q) {
            writer.set(
                element(Kind::Float, member(Kind::Object, four, "at"), q),
                call(Kind::Float, name + "_component",
                     {object("call"), object("constants"), object("place"),
                      object("address"), component() + q}));
        });
        writer.give(four);
    });
}

void write_stored(Writer& writer, const LoweredKernel& kernel,
                  const PointAddress& address, const FetchedVector& vector) {
    const Signature signature{
        "Stored",
        std::string(vector.name) + "_stored",
        {{"Call", By::Constant, "call"},
         {"Place", By::Constant, "place"},
         {address.record().name(), By::Constant, "address"}}};
    writer.function(signature, [&] {
        const PointReader reader(kernel.registers.graph, writer, address,
                                 kernel.open);
        writer.give(reader.stored(vector.id));
    });
}

} // namespace

void write_fetches(Writer& writer, const LoweredKernel& kernel) {
    std::vector<PointAddress> addresses;
    for (const LoweredAddress& of : kernel.addresses)
        addresses.emplace_back(kernel.registers.graph, of.axis, of.vectors);
    const auto address_of =
        [&](const FetchedVector& vector) -> const PointAddress& {
        return *std::ranges::find(addresses, vector.axis, &PointAddress::axis);
    };
    for (const PointAddress& address : addresses)
        address.write(writer, kernel.open);
    for (const FetchedVector& vector : kernel.fetched) {
        const PointAddress& address = address_of(vector);
        write_one(writer, kernel, address, vector);
        write_four(writer, kernel, address, vector);
    }
    for (const FetchedVector& vector : kernel.fetched)
        if (vector.fetch == Fetch::Copied)
            write_stored(writer, kernel, address_of(vector), vector);
}

void write_pair_weight(Writer& writer, const LoweredKernel& kernel,
                       const Leaves& leaves) {
    const Signature signature{"float",
                              "pair_weight",
                              {{"Constants", By::Constant, "constants"},
                               {"Row", By::Constant, "row"},
                               {"Column", By::Constant, "column"},
                               {"int", By::Value, "k"},
                               {"float", By::Value, "product"}}};
    writer.comment("One pair: column `k` of the tile.");
    writer.function(signature, [&] {
        Values values(kernel.registers.graph, writer, leaves);
        writer.give(
            as(Kind::Float, values.value(kernel.registers.wide->weight)));
    });
}

} // namespace tilefold::cuda
