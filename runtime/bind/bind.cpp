// runtime/bind/bind.cpp - names to roles, roles and shapes to a signature, the
// signature to a kernel. A signature met before is found without looking at
// any text; what is new goes through the compiler, which checks all names.

#include "runtime/bind/bind.h"

#include "formulas/diagnostic.h"
#include "runtime/bind/batch_sum.h"
#include "runtime/bind/bind_job.h"
#include "runtime/bind/bound_kernel.h"
#include "runtime/bind/call_location.h"
#include "runtime/bind/compile_call.h"
#include "runtime/bind/indices.h"
#include "runtime/bind/sweeps.h"
#include "runtime/bind/two_readings.h"
#include "runtime/core/kept_block.h"
#include "runtime/core/limits.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace tilefold {
namespace {

using detail::BoundState;
using detail::FormulaState;

Mode mode_of(const BindOptions& options) {
    if (options.query != Query::Result)
        return Mode::Values;
    return options.ranges ? Mode::Chosen : Mode::Reduce;
}

/// The role of a reading that is a cotangent or tangent; null otherwise.
const SeedRole* seed_of(const ParsedFormula& formula,
                        const BoundArgument& reading) {
    return formula.seed_of(formula.find_name(reading.name), reading.part);
}

/// The place where the formula reads `reading`, for a caret.
Place place_of(const ParsedFormula& formula, const BoundArgument& reading) {
    int name = formula.find_name(reading.name);
    if (name < 0)
        return {};
    return {formula.text(), formula.names()[std::size_t(name)].span};
}

[[noreturn]] void rows_for_parameter(const ParsedFormula& formula,
                                     const BoundArgument& reading,
                                     std::int64_t rows) {
    fail(Code::BareNameGivenRows, place_of(formula, reading),
         {std::string(reading.name), std::to_string(rows)});
}

std::vector<ArgumentType> types_of(const ParsedFormula& formula,
                                   std::span<const NamedView> arguments,
                                   const BoundArguments& readings) {
    std::vector<ArgumentType> types;
    for (std::size_t k = 0; k < readings.size(); ++k) {
        const BoundArgument& reading = readings[k];
        std::optional<Axes> declared = arguments[k].declared;
        if (seed_of(formula, reading))
            declared = reading.axes;
        types.push_back({spelled(reading.name, reading.part), declared,
                         reading.dtype, reading.rank, reading.rows,
                         reading.columns});
    }
    return types;
}

/// Parameters of several components that no other argument matches: with as
/// many components as an axis has points they are surely arrays meant for it.
/// Tables may have any number.
std::vector<std::int32_t> ambiguous_parameters(const ParsedFormula& formula,
                                               const BoundArguments& readings,
                                               const Executable& executable) {
    const std::vector<std::int32_t> tables = tables_of(executable);
    std::vector<std::int32_t> places;
    for (std::size_t k = 0; k < readings.size(); ++k) {
        const BoundArgument& reading = readings[k];
        if (reading.axes != Axes::None || reading.rank != 1 ||
            reading.part != Part::Real ||
            std::ranges::count(tables, std::int32_t(k)) != 0 ||
            seed_of(formula, reading))
            continue;
        bool matched = false;
        for (std::size_t other = 0; other < readings.size(); ++other)
            matched |= other != k && (readings[other].rows == reading.rows ||
                                      readings[other].columns == reading.rows);
        if (!matched)
            places.push_back(std::int32_t(k));
    }
    return places;
}

bool has_length(const Lengths& lengths, std::int64_t count) {
    return count > 1 && (count == lengths.i || count == lengths.j);
}

/// Whether the formula gives it two subscripts, and so any number of rows.
bool is_table(const ParsedFormula& formula, const BoundArgument& reading) {
    const int name = formula.find_name(reading.name);
    return name >= 0 && formula.names()[std::size_t(name)].is_table;
}

/// A shape error of the compiler has a simpler cause where a bare name was
/// given an array of N or M rows.
void explain_shape_error(const ParsedFormula& formula,
                         const BoundArguments& readings,
                         const Lengths& lengths) {
    for (const BoundArgument& reading : readings)
        if (reading.axes == Axes::None && !reading.view->shape.empty() &&
            !is_table(formula, reading) &&
            has_length(lengths, reading.view->shape[0]))
            rows_for_parameter(formula, reading, reading.view->shape[0]);
}

/// … or where it was given a number for each batch.
void explain_batch_of_numbers(const ParsedFormula& formula,
                              const BoundArguments& readings,
                              const Lengths& lengths) {
    const Extents batch = batch_shape(readings);
    const auto is_first_batch = [&](const BoundArgument& reading) { // (B, 1)
        return batch.empty() && reading.columns == 1 && reading.rank == 2 &&
               !has_length(lengths, reading.rows);
    };
    for (const BoundArgument& reading : readings) {
        Extents shape = reading.view->shape;
        while (!shape.empty() && shape.back() == 1)
            shape.pop_back();
        const bool fits_points =
            std::ranges::any_of(readings, [&](const BoundArgument& other) {
                return other.axes != Axes::None && other.rows == reading.rows;
            });
        if (reading.axes != Axes::None || shape.empty() || fits_points ||
            (shape != batch && !is_first_batch(reading)))
            continue;
        shape.resize(shape.size() + 2, 1);
        fail(Code::BatchOfNumbers, place_of(formula, reading),
             {std::string(reading.name), spelling_of(reading.view->shape),
              spelling_of(shape)});
    }
}

ExecutablePointer compiled(const FormulaState& formula,
                           std::span<const NamedView> arguments,
                           const CallShape& call, const GoesOn& goes_on) {
    const BoundArguments& readings = call.readings;
    std::shared_ptr<Executable> executable;
    try {
        executable = compile_call(
            formula, types_of(*formula.parsed, arguments, readings), call,
            goes_on);
    } catch (const Error& error) {
        if (error.family() == Family::Shape) {
            explain_batch_of_numbers(*formula.parsed, readings, call.lengths);
            explain_shape_error(*formula.parsed, readings, call.lengths);
        }
        throw;
    }
    executable->ambiguous_parameters =
        ambiguous_parameters(*formula.parsed, readings, *executable);
    return executable;
}

/// Whether a seed is a cotangent, or the tangent of one.
bool is_of_cotangent(const ParsedFormula& formula, const SeedRole& seed) {
    if (seed.kind == DerivationStep::Kind::Reverse)
        return true;
    const int name = formula.find_name(seed.argument);
    const SeedRole* of = formula.seed_of(name, Part::Real);
    return of && is_of_cotangent(formula, *of);
}

/// The gradient of a matrix has its numbers row after row, and so has the
/// cotangent of that gradient, where it lies so in memory.
void flatten_cotangent(const ParsedFormula& formula, const SeedRole& seed,
                       BoundArgument& reading) {
    if (reading.rank != 2)
        return;
    const tilefold_kernel_operand& from = reading.operand;
    if (from.component != from.column * reading.columns ||
        !is_of_cotangent(formula, seed))
        return;
    reading.operand.component = from.column;
    reading.operand.column = 0;
    reading.rank = 1;
    reading.rows *= reading.columns;
    reading.columns = 1;
}

bool is_own_cotangent(const SeedRole& seed) {
    return seed.argument.empty() && seed.kind == DerivationStep::Kind::Reverse;
}

/// The arguments that are no seeds.
BoundArguments read_own(const ParsedFormula& formula,
                        std::span<const NamedView> arguments) {
    BoundArguments readings;
    for (const NamedView& argument : arguments) {
        const int name = formula.find_name(argument.name);
        if (!formula.seed_of(name, argument.part))
            readings.push_back(
                read_shape(argument, formula.role_of(name, argument)));
    }
    return readings;
}

bool starts_with(const Extents& shape, const Extents& batch) {
    if (shape.size() < batch.size())
        return false;
    for (std::size_t d = 0; d < batch.size(); ++d)
        if (shape[d] != batch[d] && shape[d] != 1)
            return false;
    return true;
}

/// Results have the axes they need and no more, and so have their cotangents:
/// in a batch (B, N) or (B,) for a scalar formula, (B, D) for a vector on no
/// axis, where arrays have (B, N, 1) and parameters (B, 1, D). Nothing where
/// the cotangent is read as any array.
std::optional<BoundArgument> read_like_result(const NamedView& argument,
                                              ArgumentRole role,
                                              const BoundArguments& own,
                                              const Ranges* ranges) {
    const Extents batch = batch_shape(own, ranges);
    const View& view = argument.view;
    const bool has_points = role.axes != Axes::None;
    const std::size_t more = view.shape.size() - batch.size();
    if (argument.batch || batch.empty() || !starts_with(view.shape, batch) ||
        more > 1 || (has_points && more == 0))
        return {};
    const bool is_vector = more == 1 && !has_points;
    if (has_points && view.shape.back() != lengths_of(own).on(role.axes))
        return {};
    BoundArgument cotangent = without_shape(argument.name, view, role);
    cotangent.part = argument.part;
    cotangent.batch = batch.size();
    cotangent.rank = is_vector ? 1 : 0;
    cotangent.rows = is_vector ? std::int32_t(view.shape.back()) : 1;
    cotangent.points = has_points ? view.shape.back() : 1;
    cotangent.operand.stride = has_points ? view.strides.back() : 0;
    cotangent.operand.component = is_vector ? view.strides.back() : 0;
    return cotangent;
}

/// Reads a cotangent or a tangent.
BoundArgument read_seed(const ParsedFormula& formula, const SeedRole& seed,
                        const NamedView& argument, ArgumentRole role,
                        std::span<const NamedView> arguments,
                        const Ranges* ranges) {
    if (!argument.view.shape.empty() && is_own_cotangent(seed))
        if (const auto reading = read_like_result(
                argument, role, read_own(formula, arguments), ranges))
            return *reading;
    BoundArgument reading = read_shape(argument, role);
    flatten_cotangent(formula, seed, reading);
    return reading;
}

BoundArguments read_all(const ParsedFormula& formula,
                        std::span<const NamedView> arguments,
                        const Ranges* ranges, Signature& signature,
                        bool& all_known) {
    BoundArguments readings;
    for (const NamedView& argument : arguments) {
        const int name = formula.find_name(argument.name);
        all_known &= name >= 0;
        const ArgumentRole role = formula.role_of(name, argument);
        const SeedRole* seed = formula.seed_of(name, argument.part);
        const BoundArgument reading =
            seed ? read_seed(formula, *seed, argument, role, arguments, ranges)
                 : read_shape(argument, role);
        signature.add(name, argument.part,
                      seed ? reading.axes : argument.declared, reading.dtype,
                      reading.rank, reading.rows, reading.columns);
        readings.push_back(reading);
    }
    return readings;
}

/// Checks the shapes of the parameters, but those that are `tables`, or of the
/// arrays.
void check_batches(const ParsedFormula& formula, const BoundArguments& readings,
                   const Ranges* ranges, bool parameters,
                   std::span<const std::int32_t> tables) {
    for (std::size_t k = 0; k < readings.size(); ++k) {
        if ((readings[k].axes == Axes::None) == parameters &&
            !readings[k].says_batch && readings[k].part == Part::Real &&
            !seed_of(formula, readings[k]) &&
            std::ranges::count(tables, std::int32_t(k)) == 0)
            check_two_readings(readings, k, ranges);
    }
}

Lengths lengths_of_call(const BoundArguments& readings, const Ranges* ranges) {
    try {
        return lengths_of(readings);
    } catch (const Error&) {
        if (any_batch(readings, ranges))
            explain_length(readings, ranges);
        throw;
    }
}

void check_parameters(const ParsedFormula& formula,
                      const Executable& executable,
                      std::span<const NamedView> arguments,
                      const BoundArguments& readings, const Lengths& lengths) {
    for (std::int32_t place : executable.ambiguous_parameters) {
        const BoundArgument& reading = readings[std::size_t(place)];
        // (1, D), batches and Pm say plainly that these are components.
        const bool is_plain = reading.view->shape.size() == 1 &&
                              !arguments[std::size_t(place)].declared;
        if (is_plain && has_length(lengths, reading.rows))
            fail(Code::ComponentsOrPoints, place_of(formula, reading),
                 {std::string(reading.name), std::to_string(reading.rows)});
    }
}

std::shared_ptr<BoundState> bound_of(Binding&& binding) {
    if (binding.executable->sweeps)
        return std::make_shared<BoundSweeps>(std::move(binding));
    if (!binding.options.sum_batch.empty())
        return std::make_shared<BoundBatchSum>(binding);
    return std::allocate_shared<BoundKernel>(KeptBlockAllocator<BoundKernel>(),
                                             std::move(binding));
}

/// A stranger chooses the components of a result.
void limit_results(const BoundState& bound) {
    double bytes = 0; // may exceed any integer
    for (std::size_t k = 0; k < bound.results(); ++k) {
        double size = double(size_of(bound.dtype(k)));
        for (std::int64_t extent : bound.shape(k))
            size *= double(extent);
        bytes += size;
    }
    limits::require("the result", std::int64_t(std::min(bytes, 0x1p62)),
                    limits::result_bytes, " bytes");
}

} // namespace

std::shared_ptr<BoundState> bind(const FormulaState& formula,
                                 std::span<const NamedView> arguments,
                                 const BindOptions& options) {
    const ParsedFormula& parsed = *formula.parsed;
    Signature signature;
    bool all_known = true;
    const Ranges* ranges = options.ranges.get();
    BoundArguments readings =
        read_all(parsed, arguments, ranges, signature, all_known);
    const bool batched = any_batch(readings, ranges);
    Lengths lengths = lengths_of_call(readings, ranges);
    if (batched)
        check_batches(parsed, readings, ranges, false, {});
    const Location location = location_of(readings);
    std::vector<Location> devices;
    if (!location.is_host())
        devices = {location};
    else if (!options.on_host)
        devices =
            formula.session->devices.named(*formula.settings->options.devices);
    const CallShape call =
        shape_of(readings, lengths, devices, mode_of(options), options,
                 formula.settings->options);
    signature.add_settings(formula.settings->number);
    signature.add_location(location, devices.size());
    signature.add_mode(call.mode, call.purpose, call.tuned);
    ExecutablePointer executable = all_known ? parsed.find(signature) : nullptr;
    if (!executable) {
        executable = compiled(formula, arguments, call, options.goes_on);
        formula.parsed->keep(signature, executable);
    }
    check_parameters(parsed, *executable, arguments, readings, lengths);
    if (batched)
        check_batches(parsed, readings, ranges, true, tables_of(*executable));
    auto bound = bound_of(
        {formula, location, std::move(executable), readings, lengths, options});
    if (*formula.session->options.untrusted)
        limit_results(*bound);
    return bound;
}

Compilable compilable(const FormulaState& formula,
                      std::span<const NamedView> arguments,
                      const BindOptions& options) {
    const ParsedFormula& parsed = *formula.parsed;
    Signature signature;
    bool all_known = true;
    const BoundArguments readings =
        read_all(parsed, arguments, options.ranges.get(), signature, all_known);
    const Lengths lengths = lengths_of(readings);
    const Mode mode = mode_of(options);
    const CallShape call = shape_of(readings, lengths, {}, mode, options,
                                    formula.settings->options);
    Compilable what{types_of(parsed, arguments, readings), mode, call.purpose};
    if (needs_sweeps(parsed.tree(), parsed.derivation(), what.types, mode))
        what.purpose = of_sweeps(what.purpose);
    return what;
}

} // namespace tilefold
