// compiler/backends/cuda/lower/print.cpp - a lowered kernel as text.

#include "compiler/backends/cuda/lower/lowered_kernel.h"

#include "compiler/ir/text.h"

namespace tilefold::cuda {
namespace {

using ir::ValueId;

/// Prints a kind as "float[3]".
std::string text_of(Kind kind, std::int64_t length) {
    std::string text(spelling_of(kind));
    return length ? text + "[" + std::to_string(length) + "]" : text;
}

class Printer {
public:
    explicit Printer(const LoweredKernel& kernel)
        : kernel_(kernel), plan_(kernel.plan) {}

    std::string text() {
        print_constants();
        print_loop();
        print_tiles();
        print_ways();
        for (const LoweredReduction& reduction : kernel_.registers.reductions)
            print_reduction(reduction);
        if (kernel_.reduces())
            print_ends();
        return std::move(text_);
    }

private:
    void line(const std::string& text) { text_ += text + "\n"; }

    void print_constants() {
        for (const Constant& constant : kernel_.registers.constants)
            line("once a call " + ir::reference(constant.id) + " " +
                 text_of(constant.kind, constant.length) + " at " +
                 std::to_string(constant.offset) +
                 (constant.in_memory() ? ", read from memory" : ""));
    }

    /// The loops from outside to inside, and what is held where.
    void print_loop() {
        line(std::string(spelling_of(kernel_.loop)) + ": " +
             std::string(doc_of(kernel_.loop)));
        if (plan_.width_block > 1)
            line("  components, " + std::to_string(plan_.width_block) +
                 " of the open width at a time");
        print_rows();
        if (kernel_.loop == Loop::Points)
            return;
        print_columns();
    }

    void print_rows() {
        if (kernel_.loop == Loop::Values)
            line("  rows, " + std::to_string(plan_.rows_per_thread) +
                 " one after the other");
        else
            line("  rows, " + std::to_string(plan_.block_rows()) +
                 " a block of " + std::to_string(plan_.threads) + " threads");
        print_points("    load ", kernel_.registers.row);
        print_fetched("    bring ", Axes::I);
    }

    void print_columns() {
        const std::string unrolled = std::to_string(plan_.columns_unrolled);
        std::string text = "  columns, ";
        if (kernel_.loop == Loop::Values)
            text += unrolled + " in registers of a thread";
        else if (kernel_.loop == Loop::FewRows)
            text += unrolled + " loaded at a time";
        else
            text += std::to_string(plan_.tile_columns) +
                    " at a time in shared memory, aligned to " +
                    std::to_string(kernel_.column_alignment) + " bytes";
        if (kernel_.loop == Loop::Rows)
            text += ", " + unrolled + " unrolled";
        line(text);
        print_points("    pack ", kernel_.registers.column);
        print_fetched("    bring ", Axes::J);
    }

    void print_points(const std::string& title, const PointRecord& points) {
        for (const auto& [id, place] : points.fields) {
            const Field& field = points.record.fields()[place];
            const ir::Op op = kernel_.registers.graph[id].op;
            const bool is_read = op == ir::Op::Argument || op == ir::Op::Index;
            line(title + ir::reference(id) + " " +
                 text_of(field.kind, field.length) +
                 (is_read ? "" : ", computed"));
        }
    }

    void print_fetched(const std::string& title, Axes axis) {
        for (const FetchedVector& vector : kernel_.fetched)
            if (vector.axis == axis)
                line(title + ir::reference(vector.id) + " as " +
                     std::string(vector.name) + ", " +
                     std::string(spelling_of(vector.fetch)));
    }

    void print_tiles() {
        if (const auto& product = kernel_.product)
            line("  products of " + std::to_string(product->components) +
                 " components, " + std::to_string(product->depth) +
                 " with zeros, " + std::to_string(plan_.chunk) + " at a time" +
                 (product->squares ? ", of differences" : "") +
                 (product->expands ? ", beside the norms of centred points"
                                   : "") +
                 (product->clamps ? ", not below 0" : ""));
        if (const auto& wide = kernel_.registers.wide)
            line("  sums of " + std::to_string(wide->components) +
                 " components of " + ir::reference(wide->value) + " by " +
                 ir::reference(wide->weight) + ", in " +
                 std::to_string(plan_.weight_parts) + " and " +
                 std::to_string(plan_.value_parts) +
                 (plan_.halves ? " halves" : " bf16"));
    }

    void print_ways() {
        for (const auto& [id, way] : kernel_.ways)
            line(ir::reference(id) + " " +
                 std::string(ir::mnemonic(kernel_.registers.graph[id].op)) +
                 ", " + std::string(spelling_of(kernel_.sites[id])) + ": " +
                 std::string(spelling_of(way)) + " (" +
                 std::string(doc_of(way)) + ")");
    }

    void print_reduction(const LoweredReduction& reduction) {
        const Registers& registers = kernel_.registers;
        std::string text = ir::reference(reduction.id) + " reduce: state";
        for (std::size_t k = 0; k < reduction.state.size(); ++k)
            text +=
                " " + member_text(
                          registers.state.fields()[reduction.first_state + k]);
        if (kernel_.loop == Loop::Wide)
            return line(text + "; products of matrices");
        text += "; partial";
        for (std::size_t k = 0; k < reduction.partial.size(); ++k)
            text +=
                " " +
                member_text(
                    registers.partial.fields()[reduction.first_partial + k]);
        const ir::Node& node = registers.graph[reduction.id];
        if (reduction.is_filtered)
            text += "; " + ir::reference(node.operands[0]) +
                    " where its bound " + ir::reference(node.operands[1]) +
                    " lets it pass";
        line(text);
    }

    static std::string member_text(const Field& field) {
        return text_of(field.kind, field.length) + " " + field.name;
    }

    void print_ends() {
        std::string text =
            "results: slots of a state " + std::to_string(kernel_.slots) +
            ", states loaded at a time " + std::to_string(kernel_.states_ahead);
        if (!kernel_.epilogue.empty())
            text += ", read beside them";
        for (ValueId id : kernel_.epilogue)
            text += " " + ir::reference(id);
        line(text);
        if (kernel_.folds_rows)
            line(kernel_.folds_blocks ? "rows are folded, in each block first"
                                      : "rows are folded");
        if (kernel_.chooses)
            line("pairs are chosen by ranges");
        line("shared memory: " + std::to_string(plan_.shared_bytes) + " bytes");
    }

    const LoweredKernel& kernel_;
    const Plan& plan_;
    std::string text_;
};

} // namespace

std::string print(const LoweredKernel& kernel) {
    return Printer(kernel).text();
}

} // namespace tilefold::cuda
