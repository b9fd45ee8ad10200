// runtime/session/kernel_shape.cpp - see kernel_shape.h.
#include "runtime/session/kernel_shape.h"

#include "compiler/build/roles.h"
#include "compiler/language/vocabulary.h"
#include "formulas/diagnostic.h"
#include "formulas/names.h"
#include "formulas/parser.h"
#include "runtime/bind/bind_shapes.h"
#include "runtime/bind/session_state.h"
#include "runtime/session/inspect.h"
#include "runtime/session/kernel_algebra.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

namespace tilefold {

namespace {

BoundArguments read_all(const Formula& pair,
                        std::span<const NamedView> arguments) {
    const ParsedFormula& parsed = *Inspection::of(pair).parsed;
    BoundArguments readings;
    for (const NamedView& argument : arguments)
        readings.push_back(read_shape(argument, parsed.role_of(argument)));
    return readings;
}

std::vector<ArgumentType> types_of(std::span<const NamedView> arguments,
                                   const BoundArguments& readings) {
    std::vector<ArgumentType> types;
    for (std::size_t k = 0; k < readings.size(); ++k)
        types.push_back({spelled(readings[k].name, readings[k].part),
                         arguments[k].declared, readings[k].dtype,
                         readings[k].rank, readings[k].rows,
                         readings[k].columns});
    return types;
}

/// The passes without LLVM: some ten microseconds.
Result result_of(const ast::Formula& pair,
                 const std::vector<ArgumentType>& types) {
    return compile(pair, types, Mode::Values, {}).result;
}

/// The same of the formula itself, which keeps it: a kernel is often made anew
/// for each product with it.
Result kept_result(const Formula& pair,
                   const std::vector<ArgumentType>& types) {
    ParsedFormula& parsed = *Inspection::of(pair).parsed;
    if (const auto kept = parsed.find_value(types))
        return *kept;
    const Result found = result_of(parsed.tree(), types);
    parsed.keep_value(types, found);
    return found;
}

/// The dtype of an array that holds both parts, of single or double numbers.
DType dtype_of_parts(DType real, DType imaginary) {
    const auto is_single = [](DType dtype) {
        return kind_of(dtype) == DTypeKind::Float && dtype != DType::F64;
    };
    return is_single(real) && is_single(imaginary) ? DType::F32 : DType::F64;
}

} // namespace

ValueShape value_shape(const Formula& pair,
                       std::span<const NamedView> arguments) {
    for (const ast::Node& node : tree_of(pair).nodes)
        if (node.kind == ast::Kind::Reduce)
            fail(Code::KernelReduces, {pair.text(), node.span});
    BoundArguments readings = read_all(pair, arguments);
    const Lengths lengths = lengths_of(readings);
    ValueShape shape{batch_shape(readings), lengths.i, lengths.j};
    const auto take = [&](const Result& result) {
        shape.dtype = result.dtype;
        if (result.rank == 1)
            shape.components = result.rows;
    };
    const std::vector<ArgumentType> types = types_of(arguments, readings);
    const auto part = [&](const char* name) {
        return result_of(parse(applied(pair, name), vocabulary()), types);
    };
    try {
        take(kept_result(pair, types));
    } catch (const Error& error) {
        if (error.code() == Code::ComplexResult) {
            take(part("real"));
            shape.dtype = dtype_of_parts(shape.dtype, part("imag").dtype);
            shape.is_complex = true;
            return shape;
        }
        BindOptions options;
        options.query = Query::Dense;
        pair.bind(arguments, options); // says it better where it can
        throw;
    }
    return shape;
}

namespace {

bool is_given(std::span<const NamedView> arguments, const std::string& name) {
    return std::ranges::any_of(arguments, [&](const NamedView& argument) {
        return normalise_name(argument.name) == name;
    });
}

double components_of(const BoundArguments& readings) {
    std::vector<PointArray> arrays;
    for (const BoundArgument& reading : readings)
        if (reading.part == Part::Real)
            arrays.push_back(
                {normalise_name(reading.name), reading.axes, reading.rows});
    return arrays_of_points(std::move(arrays)).at(0).components;
}

} // namespace

OwnSizes own_sizes(const Formula& pair, std::span<const NamedView> arguments) {
    std::set<std::string> read;
    for (const NameUse& use : names_read(tree_of(pair)))
        if (use.is_constant && is_size(use.name.name) &&
            !is_given(arguments, use.name.name))
            read.insert(use.name.name);
    OwnSizes sizes;
    for (const char* name : {"N", "M"})
        if (read.contains(name))
            sizes.points.emplace_back(name);
    if (read.contains("D"))
        sizes.text = with_numbers(
            pair, {{"D", components_of(read_all(pair, arguments))}});
    return sizes;
}

Extents kernel_shape(const Formula& pair,
                     std::span<const NamedView> arguments) {
    const ValueShape value = value_shape(pair, arguments);
    Extents shape = value.batch;
    shape.push_back(std::max<std::int64_t>(value.i, 0));
    shape.push_back(std::max<std::int64_t>(value.j, 0));
    return shape;
}

Extents shape_of_kernel(const Formula& pair,
                        std::span<const NamedView> arguments) {
    Extents shape = kernel_shape(pair, arguments);
    if (const ValueShape value = value_shape(pair, arguments);
        value.components >= 0) {
        shape.push_back(value.components);
        fail(Code::SolveVectors, {spelling_of(shape)});
    }
    return shape;
}

double pairs_of(const Formula& formula, std::span<const NamedView> arguments) {
    BoundArguments readings = read_all(formula, arguments);
    Lengths lengths = lengths_of(readings);
    double pairs = lengths.i < 0 ? 1 : double(lengths.i);
    pairs *= lengths.j < 0 ? 1 : double(lengths.j);
    for (std::int64_t extent : batch_shape(readings))
        pairs *= double(extent);
    return pairs;
}

} // namespace tilefold
