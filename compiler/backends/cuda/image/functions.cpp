// compiler/backends/cuda/image/functions.cpp - the functions of a formula that
// the loops call.

#include "compiler/backends/cuda/image/functions.h"

#include "compiler/backends/cuda/monoids/monoid.h"

namespace tilefold::cuda {
namespace {

using ir::ValueId;

const Parameter call_parameter{"Call", By::Constant, "call"};
const Parameter constants_parameter{"Constants", By::Constant, "constants"};

} // namespace

Leaves packed_leaves(const LoweredKernel& kernel) {
    const Registers& registers = kernel.registers;
    return
        [&registers](ValueId id, const Component& at) -> std::optional<Code> {
            if (registers.product && id == registers.product->id)
                return Code(Kind::Float, "product");
            if (auto row = read_packed(registers.row, object("row"), id, at))
                return row;
            if (auto column =
                    read_packed(registers.column, object("column"), id, at))
                return column;
            return read_constant(registers, id, at);
        };
}

namespace {

/// A kernel and its reductions as code.
struct Reductions {
    const LoweredKernel& kernel;
    const Monoids& monoids;
};

/// A function that does something to each reduction in turn.
void write_each(Writer& writer, const Reductions& of,
                const Signature& signature,
                const std::function<void(Monoid&, Scene&)>& body) {
    writer.function(signature, [&] {
        Values values(of.kernel.registers.graph, writer,
                      packed_leaves(of.kernel));
        Scene scene{writer, values};
        of.monoids.each([&](Monoid& monoid) { body(monoid, scene); });
    });
}

/// Writes begin, add and fold.
void write_tile_steps(Writer& writer, const Reductions& of) {
    const Parameter state{"State", By::Reference, "state"};
    const Parameter partial{"Partial", By::Reference, "partial"};
    write_each(
        writer, of,
        {"void",
         "begin",
         {constants_parameter, {"State", By::Constant, "state"}, partial}},
        [](Monoid& monoid, Scene& scene) { monoid.begin(scene); });
    Signature add{"void",
                  "add",
                  {constants_parameter,
                   {"Row", By::Constant, "row"},
                   {"Column", By::Constant, "column"},
                   {"int", By::Value, "k"}}};
    if (of.kernel.product)
        add.parameters.push_back({"float", By::Value, "product"});
    add.parameters.push_back(partial);
    writer.comment("One pair: column `k` of the tile.");
    write_each(writer, of, add,
               [](Monoid& monoid, Scene& scene) { monoid.add(scene); });
    writer.comment("The tile's columns count from `first`.");
    write_each(writer, of,
               {"void",
                "fold",
                {constants_parameter,
                 {"Partial", By::Constant, "partial"},
                 {"long long", By::Value, "first"},
                 state}},
               [](Monoid& monoid, Scene& scene) { monoid.finish_tile(scene); });
}

void write_steps(Writer& writer, const Reductions& of) {
    const Parameter state{"State", By::Reference, "state"};
    write_each(writer, of, {"void", "identity", {constants_parameter, state}},
               [](Monoid& monoid, Scene& scene) { monoid.identity(scene); });
    if (of.kernel.loop != Loop::Wide)
        write_tile_steps(writer, of);
    writer.comment("`from` covers later columns.");
    write_each(writer, of,
               {"void",
                "merge",
                {constants_parameter, {"State", By::Constant, "from"}, state}},
               [](Monoid& monoid, Scene& scene) {
                   monoid.merge(scene, object("from"));
               });
}

/// Writes load_state or store_state, for which slot s is at place[s * stride].
void write_state_access(Writer& writer, const Record& state, bool loads) {
    const Signature signature{
        "void",
        loads ? "load_state" : "store_state",
        {{loads ? "const double*" : "double*", By::Value, "place"},
         {"long long", By::Value, "stride"},
         {"State", loads ? By::Reference : By::Constant, "state"}}};
    writer.function(signature, [&] {
        std::int64_t slot = 0;
        for (const Field& field : state.fields()) {
            const auto access = [&](const Code& number) {
                const Code at(Kind::Object,
                              "place + " +
                                  (number * Code(Kind::Long, "stride")).text(),
                              Level::Sum);
                const Code value =
                    field_of(object("state"), field,
                             field.length ? Code(Kind::Int, "k") : whole(0));
                writer.run(loads ? "take" : "put", {at, value});
            };
            if (field.length)
                writer.loop("k", field.length, [&](const Code& k) {
                    access(slot ? k + whole(slot) : k);
                });
            else
                access(whole(slot));
            slot += std::max<std::int64_t>(field.length, 1);
        }
    });
}

/// Writes state_of_lane, which gives what the lane has whose number differs in
/// the bits `apart`.
void write_state_of_lane(Writer& writer, const Record& state) {
    const Signature signature{
        "State",
        "state_of_lane",
        {{"State", By::Constant, "state"}, {"int", By::Value, "apart"}}};
    writer.function(signature, [&] {
        const Code other = writer.declare("State", "other");
        for (const Field& field : state.fields()) {
            const auto pass = [&](const Code& k) {
                writer.set(field_of(other, field, k),
                           call(field.kind, "of_lane",
                                {field_of(object("state"), field, k),
                                 Code(Kind::Int, "apart")}));
            };
            if (field.length)
                writer.loop("k", field.length, pass);
            else
                pass(whole(0));
        }
        writer.give(other);
    });
}

/// Stores the components of the graph's result from `out` on.
void write_components(Writer& writer, Values& values, const Code& out,
                      bool is_open) {
    const ir::Graph& graph = values.graph();
    const Type& type = graph[graph.result].type;
    const Kind kind = kind_of_value(type.dtype);
    values.each_component(
        graph.result, components_of(type), [&](const Component& at) {
            const Code step =
                member(Kind::Long, object("call"), "out_component");
            const bool first = !at.index && at.fixed == 0;
            const Code place =
                first ? out
                      : Code(Kind::Object,
                             out.text() + " + " + (at.code() * step).text(),
                             Level::Sum);
            const auto store = [&] {
                writer.run("write", {object("call"), place,
                                     as(kind, values.value(graph.result, at))});
            };
            if (!is_open)
                return store();
            writer.when(less(at.code(), components_of_part()), store);
        });
}

/// Writes the epilogue: rows are read from memory, reductions from the state.
void write_result(Writer& writer, const Reductions& of) {
    const Registers& registers = of.kernel.registers;
    const ir::Graph& graph = registers.graph;
    const Signature signature{"void",
                              "write_result",
                              {call_parameter,
                               constants_parameter,
                               {"Place", By::Constant, "place"},
                               {"long long", By::Value, "i"},
                               {"long long", By::Value, "number"},
                               {"long long", By::Value, "terms"},
                               {"State", By::Constant, "state"}}};
    writer.comment("Of point i, to row `number` of the results.");
    writer.function(signature, [&] {
        const Code out =
            writer.pointer("out", "char*", "place.out + number * call.out_row");
        PointReader reader(graph, writer, Axes::I, Code(Kind::Long, "i"), -1);
        reader.declare(of.kernel.epilogue);
        Scene* scene = nullptr;
        const Leaves leaves = [&](ValueId id,
                                  const Component& at) -> std::optional<Code> {
            if (graph[id].op == ir::Op::Reduce)
                return of.monoids.of(id).result(*scene, at,
                                                Code(Kind::Long, "terms"));
            if (auto constant = read_constant(registers, id, at))
                return constant;
            return reader.read(id, at);
        };
        Values values(graph, writer, leaves);
        Scene here{writer, values};
        scene = &here;
        of.monoids.each([&](Monoid& monoid) { monoid.begin_result(here); });
        write_components(writer, values, out, of.kernel.open >= 0);
    });
}

} // namespace

void write_reduce_functions(Writer& writer, const LoweredKernel& kernel) {
    const Registers& registers = kernel.registers;
    const Monoids monoids(registers);
    const Reductions of{kernel, monoids};
    write_steps(writer, of);
    write_state_access(writer, registers.state, true);
    write_state_access(writer, registers.state, false);
    write_state_of_lane(writer, registers.state);
    write_result(writer, of);
}

void write_value_function(Writer& writer, const LoweredKernel& kernel) {
    const Signature signature{"void",
                              "write_value",
                              {call_parameter,
                               constants_parameter,
                               {"Row", By::Constant, "row"},
                               {"Column", By::Constant, "column"},
                               {"char*", By::Value, "out"}}};
    writer.function(signature, [&] {
        Values values(kernel.registers.graph, writer, packed_leaves(kernel));
        write_components(writer, values, object("out"), false);
    });
}

} // namespace tilefold::cuda
