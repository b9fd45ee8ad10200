// compiler/ir/print.cpp - a graph as text, one value a line.
//
//   graph f32                              the computing dtype
//   argument x : f32[3] {i,j}              as stored, and where it is read
//   literal 0 = 2                          the value of a slot
//   %0 = argument x : f32[3] {i}           number = operation : type {axes}
//   %2 = sqdist %0, %1 : f32 {i,j}
//   %5 = reduce argkmin j %2, 10 : i64[10] {i}
//   return %5
//
// Before a fold stand its two graphs, indented:
//   accumulate
//     graph f32
//     …
//   merge
//     …
//
// Names::Numbers leaves out the literals' values and writes an argument's
// number for its name. Doubles are printed as the shortest text that reads
// back as the same number.

#include "compiler/ir/text.h"

#include <charconv>

namespace tilefold::ir {
namespace {

std::string number(double value) {
    char text[32];
    const auto end = std::to_chars(text, text + sizeof text, value).ptr;
    return {text, end};
}

std::string indented(std::string_view text) {
    std::string result;
    for (std::size_t k = 0; k < text.size(); ++k) {
        if (k == 0 || text[k - 1] == '\n')
            result += "  ";
        result += text[k];
    }
    return result;
}

class Printer {
public:
    Printer(const Graph& graph, Names names) : graph_(graph), names_(names) {}

    std::string print() {
        line("graph " + std::string(tilefold::spelling_of(graph_.real)) +
             (graph_.is_watched ? " watched" : ""));
        header();
        for (ValueId id = 0; id < graph_.nodes.size(); ++id) {
            if (graph_[id].fold)
                fold(*graph_[id].fold);
            line(reference(id) + " = " + operation(graph_[id]) + " : " +
                 tilefold::spelling_of(graph_[id].type));
        }
        line("return " + reference(graph_.result));
        return std::move(text_);
    }

private:
    void line(const std::string& text) { text_.append(text).append("\n"); }

    /// Prints the monoid of the next value. Its arguments go by their names
    /// always, because these say what is what.
    void fold(const Fold& fold) {
        line("accumulate");
        text_ += indented(ir::print(fold.accumulate, Names::Spelled));
        line("merge");
        text_ += indented(ir::print(fold.merge, Names::Spelled));
    }

    std::string name_of(std::size_t number) const {
        return names_ == Names::Spelled ? graph_.arguments[number].name
                                        : std::to_string(number);
    }

    void header() {
        for (std::size_t k = 0; k < graph_.arguments.size(); ++k) {
            const Argument& a = graph_.arguments[k];
            const Type type{a.dtype, a.rank, a.axes, a.rows, a.columns};
            line("argument " + name_of(k) + " : " +
                 tilefold::spelling_of(type));
        }
        if (names_ == Names::Numbers)
            return;
        for (std::size_t k = 0; k < graph_.literals.size(); ++k)
            line("literal " + std::to_string(k) + " = " +
                 number(graph_.literals[k]));
    }

    std::string operands(const Node& node) const {
        std::string text;
        for (ValueId id : node.inputs())
            text += (text.empty() ? "" : ", ") + reference(id);
        return text;
    }

    std::string operation(const Node& node) const {
        std::string text(mnemonic(node.op));
        switch (node.op) {
        case Op::Argument:
            return text + " " + name_of(std::size_t(node.first));
        case Op::Literal:
            return text + " " + std::to_string(node.first) +
                   (node.second ? ", " + std::to_string(node.second) : "");
        case Op::Constant:
            return text + " " + number(node.value) +
                   (node.second ? ", whole" : "");
        case Op::Index:
            return text;
        case Op::Iota:
            return text + " " + std::to_string(node.first);
        case Op::IntPow:
        case Op::Broadcast:
            return text + " " + operands(node) + ", " +
                   std::to_string(node.first);
        case Op::Slice:
            return text + " " + operands(node) + ", " +
                   std::to_string(node.first) + ", " +
                   std::to_string(node.second) + (node.third ? ", scalar" : "");
        case Op::Submatrix:
            return text + " " + operands(node) + ", " +
                   std::to_string(node.first) + ", " +
                   std::to_string(node.second) + ", " +
                   std::to_string(node.third);
        case Op::Reduce:
            return text + " " + reduction(node);
        default:
            return text + " " + operands(node);
        }
    }

    std::string reduction(const Node& node) const {
        const ReductionRow& row = row_of(Reduction(node.first));
        std::string text(row.spelling);
        text.append(" ").append(tilefold::spelling_of(Axes(node.second)));
        if (node.pairs != Pairs::All)
            text.append(" ").append(spelling_of(node.pairs));
        text += " " + operands(node);
        if (row.monoid == Monoid::KMinimum)
            text += ", " + std::to_string(node.third);
        return text;
    }

    const Graph& graph_;
    Names names_;
    std::string text_;
};

} // namespace

std::string reference(ValueId id) {
    return "%" + std::to_string(id);
}

std::string print(const Graph& graph, Names names) {
    return Printer(graph, names).print();
}

} // namespace tilefold::ir
