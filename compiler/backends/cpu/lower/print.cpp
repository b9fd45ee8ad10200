// compiler/backends/cpu/lower/print.cpp - a lowered kernel as text.

#include "compiler/backends/cpu/lower/lowered_kernel.h"

#include "compiler/ir/text.h"

#include <ranges>
#include <string>

namespace tilefold {
namespace {

using ir::ValueId;

/// Prints "64", or "64 + 8 w" for a place that moves with the width of the
/// call.
std::string text_of(const WidthOffset& place) {
    std::string text = std::to_string(place.offset);
    if (place.per_width)
        text += " + " + std::to_string(place.per_width) + " w";
    return text;
}

std::string text_of_count(std::int64_t components) {
    return components == dynamic ? "w" : std::to_string(components);
}

class Printer {
public:
    Printer(const LoweredKernel& kernel, const ir::Graph& graph,
            const Plan& plan)
        : kernel_(kernel), graph_(graph), plan_(plan) {}

    std::string text() {
        print_tables();
        if (plan_.nest == Nest::Values)
            print_points();
        else
            print_pairs();
        print_contractions();
        print_reductions();
        print_loops();
        print_watched();
        line("scratch: " + text_of(kernel_.scratch) + " bytes");
        return std::move(text_);
    }

private:
    void line(const std::string& text) { text_ += text + "\n"; }

    /// The loops from outside to inside, and what is packed where.
    void print_pairs() {
        const std::int64_t tile_rows = plan_.row_vectors * plan_.lanes;
        line("rows, up to " + std::to_string(plan_.row_block) + " at a time");
        print_operands("  pack", kernel_.rows);
        line(plan_.nest == Nest::SinglePanel
                 ? "all columns, at most " + std::to_string(plan_.panel)
                 : "columns, " + std::to_string(plan_.panel) + " at a time");
        if (kernel_.reads_in_place)
            line("  read where they are");
        else
            print_operands("  pack", kernel_.columns);
        print_bf16();
        line("  rows, " + std::to_string(tile_rows) + " at a time in " +
             std::to_string(plan_.row_vectors) + " vectors");
        print_kept("    slabs of " + std::to_string(plan_.k_block) +
                       " components, for all columns:",
                   kernel_.kept.slabs);
        const char* indent = "    ";
        if (kernel_.by_column_tiles) {
            line("    columns, " + std::to_string(kernel_.column_tile) +
                 " at a time");
            indent = "      ";
        }
        print_kept(indent + std::string("by the matrix unit:"),
                   kernel_.kept.tiles);
        line(indent + std::string("columns, ") + std::to_string(plan_.columns) +
             " at a time" +
             (kernel_.last_columns > 1
                  ? ", the last " + std::to_string(kernel_.last_columns)
                  : "") +
             (kernel_.is_pipelined
                  ? ", software-pipelined in stages of " +
                        std::to_string(plan_.min_stage_cycles) + " cycles"
                  : ""));
        if (kernel_.leaves_rare_out)
            line(indent + std::string("  without what few arguments need, and "
                                      "anew with it where a sum is NaN"));
        print_vectors(indent + std::string("  "), kernel_.kept.vectors);
        print_kept(indent + std::string("  keep scalars:"),
                   kernel_.kept.scalars);
    }

    void print_points() {
        for (const auto& [entry, of] :
             {std::pair("zip", &kernel_.zip), {"dense", &kernel_.dense}}) {
            line(std::string(entry) + ", " + std::to_string(point_chunk) +
                 " points at a time");
            print_operands("  pack rows:", of->rows);
            print_operands("  pack columns:", of->columns);
            print_vectors("  ", of->vectors);
        }
    }

    void print_tables() {
        for (ValueId id : kernel_.placement.in_place)
            line("elements of " + ir::reference(id) + " are read in place");
    }

    void print_watched() {
        const auto print = [&](const char* what, const auto& values) {
            std::string names;
            for (ValueId id : values)
                names += " " + ir::reference(id);
            if (!names.empty())
                line(what + names);
        };
        const Watched& watched = kernel_.placement.watched;
        print("watch the range of", watched.products);
        print("watch the sums in", std::views::keys(watched.sums));
    }

    /// The loops that chains of functions are cut into.
    void print_loops() {
        print_chains("of constants", kernel_.constant_chains);
        for (const auto& [axis, operands] :
             {std::pair("of rows", &kernel_.rows),
              {"of columns", &kernel_.columns},
              {"of rows, after reductions", &kernel_.epilogue},
              {"of zip's rows", &kernel_.zip.rows},
              {"of zip's columns", &kernel_.zip.columns},
              {"of dense rows", &kernel_.dense.rows},
              {"of dense columns", &kernel_.dense.columns}}) {
            if (!operands->scalars.empty())
                print_chain("values " + std::string(axis), operands->scalars);
            print_chains(axis, operands->chains);
        }
        print_chains("of one vector of pairs", kernel_.pair_chains);
        print_chains("of results", kernel_.result_chains);
        print_chains("of zip's pairs", kernel_.zip.chains);
        print_chains("of dense pairs", kernel_.dense.chains);
        if (kernel_.calls_sines)
            line("sines are calls of one function");
        if (kernel_.contractions.uses_matrix_unit)
            line("the matrix unit takes " +
                 std::to_string(kernel_.contractions.depth) +
                 " words at a time");
    }

    void print_chains(std::string_view of, const LoopChains& chains) {
        for (const auto& [id, chain] : chains)
            print_chain(ir::reference(id) + " " + std::string(of), chain);
    }

    void print_chain(const std::string& what, const LoopChain& chain) {
        std::string text = what + ", " + std::to_string(vectors_of_strip) +
                           " vectors in each of " +
                           std::to_string(chain.loops.size()) + " loops:";
        for (const ChainLoop& loop : chain.loops) {
            const char* separator = " (";
            for (ValueId id : loop.values) {
                text += separator + ir::reference(id);
                separator = " ";
            }
            text += loop.sines_in_place ? ", a call)" : ")";
        }
        line(text);
    }

    void print_operands(const std::string& title, const Operands& operands) {
        for (const auto* list :
             {&operands.values.leaves, &operands.values.computed})
            for (ValueId id : *list)
                print_operand(title, operands.of.at(id), id,
                              list == &operands.values.computed);
    }

    void print_operand(const std::string& title, const Operand& operand,
                       ValueId id, bool is_computed) {
        const Words* words = kernel_.contractions.words_of(id);
        const std::int64_t components = components_of(graph_[id].type);
        std::string text = title + " " + ir::reference(id) + " " +
                           std::string(spelling_of(operand.dtype));
        if (words)
            text += " words of " + std::string(spelling_of(words->stored));
        if (components != 1)
            text += "[" + text_of_count(words ? words->packed() : components) +
                    "] " + std::string(spelling_of(operand.order));
        text += " at " + text_of(operand.place);
        line(text + (is_computed ? ", computed" : ""));
    }

    void print_bf16() {
        for (const auto& [id, product] : kernel_.splits)
            line("  split factors of " + ir::reference(id) + " into " +
                 std::to_string(splits_of_factor) + " bf16 each: rows at " +
                 std::to_string(product.rows) + ", columns at " +
                 std::to_string(product.columns));
        for (const auto& [id, product] : kernel_.layers)
            line("  multiply " + ir::reference(id) + " as " +
                 std::to_string(splits_of_factor) + " bf16 of each factor: " +
                 "matrix at " + std::to_string(product.matrix_words) +
                 ", vectors at " + std::to_string(product.vector_words));
        if (kernel_.filter)
            line("  filter " + ir::reference(kernel_.filter->distance) +
                 (kernel_.filter->of_bf16 ? " by bf16 products"
                                          : " by products") +
                 ": rows at " + std::to_string(kernel_.filter->row_words) +
                 ", columns at " +
                 std::to_string(kernel_.filter->column_words));
    }

    void print_kept(const std::string& title, const Kept& kept) {
        if (kept.empty())
            return;
        std::string text = title;
        for (const auto& [id, offset] : kept.offsets)
            text += " " + ir::reference(id) + " at " + std::to_string(offset);
        line(text);
    }

    void print_vectors(const std::string& title, const KeptVectors& vectors) {
        for (const auto& [id, vector] : vectors.of) {
            line(title + "keep " + ir::reference(id) + " " +
                 std::string(ir::mnemonic(graph_[id].op)) + "[" +
                 text_of_count(graph_[id].type.rows) + "] at " +
                 std::to_string(vector.offset) + ", " +
                 components_at_once(id, vectors) +
                 (vector.for_tile ? ", for all columns of the tile" : ""));
        }
    }

    std::string components_at_once(ValueId id,
                                   const KeptVectors& vectors) const {
        if (kernel_.layers.count(id) > 0)
            return "in blocks";
        const bool is_product = kernel_.contractions.ways.count(id) > 0;
        const int at_once = is_product ? vectors.components_at_once : 1;
        return std::to_string(at_once) +
               (at_once == 1 ? " component" : " components") + " at a time";
    }

    void print_contractions() {
        for (const auto& [id, way] : kernel_.contractions.ways)
            line(ir::reference(id) + " " +
                 std::string(ir::mnemonic(graph_[id].op)) + ": " +
                 std::string(spelling_of(way)) + " (" +
                 std::string(doc_of(way)) + ")");
    }

    void print_reductions() {
        for (const LoweredReduction& reduction : kernel_.reductions)
            print_reduction(reduction);
        for (const LoweredReduction& reader : kernel_.readers)
            line(ir::reference(reader.id) + " reduce: the state of " +
                 ir::reference(first_of_state(graph_, reader.id)));
    }

    void print_reduction(const LoweredReduction& reduction) {
        std::string text = ir::reference(reduction.id) + " reduce: state";
        for (const StateField& field : reduction.fields)
            text += " " + std::string(spelling_of(field.dtype)) + "[" +
                    text_of_count(field.components) + "]";
        if (plan_.nest == Nest::Reduce)
            text += " from slot " + text_of(reduction.first_slot);
        text += "; " + std::string(spelling_of(reduction.partial)) +
                (reduction.in_memory ? " accumulators at " : " in registers");
        if (reduction.in_memory)
            text += text_of(reduction.memory);
        if (reduction.list_vectors)
            text += "; a list of " + std::to_string(reduction.list_vectors) +
                    " vectors at " + text_of(reduction.memory);
        if (reduction.by_matrices)
            text += "; weighted sums are products of bf16 matrices";
        line(text);
    }

    const LoweredKernel& kernel_;
    const ir::Graph& graph_;
    const Plan& plan_;
    std::string text_;
};

} // namespace

std::string print(const LoweredKernel& kernel, const ir::Graph& graph,
                  const Plan& plan) {
    return Printer(kernel, graph, plan).text();
}

} // namespace tilefold
