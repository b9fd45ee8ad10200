// compiler/ir/parse_ir.cpp - reads the text that print.cpp writes. Values are
// taken as they stand: nothing is merged, and types are the printed ones.

#include "compiler/ir/text.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace tilefold::ir {
namespace {

constexpr std::string_view indent = "  ";

/// Cuts `text` at spaces and commas.
std::vector<std::string_view> words_of(std::string_view text) {
    constexpr std::string_view separators = " ,";
    std::vector<std::string_view> words;
    for (;;) {
        const std::size_t begin = text.find_first_not_of(separators);
        if (begin == std::string_view::npos)
            return words;
        text.remove_prefix(begin);
        const std::size_t end =
            std::min(text.find_first_of(separators), text.size());
        words.push_back(text.substr(0, end));
        text.remove_prefix(end);
    }
}

class Reader {
public:
    Graph read(std::string_view text) {
        while (!text.empty()) {
            const std::size_t end = text.find('\n');
            line_ = text.substr(0, end);
            text.remove_prefix(std::min(line_.size() + 1, text.size()));
            read_line();
        }
        if (graph_.result == no_value)
            malformed("no return");
        return std::move(graph_);
    }

private:
    [[noreturn]] void malformed(std::string_view why) const {
        internal_error("malformed IR, " + std::string(why) + ": '" +
                       std::string(line_) + "'");
    }

    template <typename Number> Number number(std::string_view text) const {
        Number value{};
        const char* last = text.data() + text.size();
        const auto [end, error] = std::from_chars(text.data(), last, value);
        if (error != std::errc() || end != last)
            malformed("number expected");
        return value;
    }

    ValueId reference(std::string_view text) const {
        if (text.empty() || text[0] != '%')
            malformed("value expected");
        const auto id = number<ValueId>(text.substr(1));
        if (id >= graph_.nodes.size())
            malformed("a value before its definition");
        return id;
    }

    std::int32_t length(std::string_view text) const {
        return text == "?" ? dynamic : number<std::int32_t>(text);
    }

    /// Reads a type as "f32[2,3] {i,j}".
    Type type(std::string_view text) const {
        Type type;
        const std::size_t space = text.find(' ');
        if (space == std::string_view::npos)
            malformed("type expected");
        const std::string_view axes = text.substr(space + 1);
        std::string_view element = text.substr(0, space);
        if (const std::size_t open = element.find('[');
            open != std::string_view::npos) {
            const auto lengths =
                words_of(element.substr(open + 1, element.size() - open - 2));
            if (element.back() != ']' || lengths.empty() || lengths.size() > 2)
                malformed("shape expected");
            type.rank = std::uint8_t(lengths.size());
            type.rows = length(lengths[0]);
            type.columns = lengths.size() == 2 ? length(lengths[1]) : 1;
            element = element.substr(0, open);
        }
        if (!parse_dtype(element, type.dtype))
            malformed("dtype expected");
        type.axes = this->axes(axes);
        return type;
    }

    Axes axes(std::string_view text) const {
        const Axes all[] = {Axes::None, Axes::I, Axes::J, Axes::IJ};
        constexpr std::string_view texts[] = {"{}", "{i}", "{j}", "{i,j}"};
        for (Axes axes : all)
            if (text == texts[std::size_t(axes)] ||
                text == tilefold::spelling_of(axes))
                return axes;
        malformed("axes expected");
    }

    /// Cuts at " : ", returns what is before and reads the type after it.
    std::string_view typed(Type& type) const {
        const std::size_t colon = line_.rfind(" : ");
        if (colon == std::string_view::npos)
            malformed("type expected");
        type = this->type(line_.substr(colon + 3));
        return line_.substr(0, colon);
    }

    void read_line() {
        const auto words = words_of(line_);
        if (words.empty())
            return;
        if (line_.starts_with(indent)) {
            if (!part_)
                malformed("a graph of no fold");
            part_->append(line_.substr(indent.size())).append("\n");
            return;
        }
        if (words[0] == "graph" && words.size() == 2)
            read_real(words[1]);
        else if (words[0] == "graph" && words.size() == 3 &&
                 words[2] == "watched")
            read_watched(words[1]);
        else if (words[0] == "argument")
            read_argument();
        else if (words[0] == "literal" && words.size() == 4)
            set_literal(number<std::int64_t>(words[1]),
                        number<double>(words[3]));
        else if (words[0] == "return" && words.size() == 2)
            graph_.result = reference(words[1]);
        else if (words[0] == "accumulate" || words[0] == "merge")
            part_ = words[0] == "merge" ? &merge_ : &accumulate_;
        else
            read_value();
    }

    void read_real(std::string_view text) {
        if (!parse_dtype(text, graph_.real))
            malformed("dtype expected");
    }

    void read_watched(std::string_view real) {
        read_real(real);
        graph_.is_watched = true;
    }

    void read_argument() {
        Type type;
        const auto words = words_of(typed(type));
        if (words.size() != 2)
            malformed("argument expected");
        graph_.arguments.push_back({std::string(words[1]), type.dtype,
                                    type.rank, type.rows, type.columns,
                                    type.axes});
    }

    void set_literal(std::int64_t slot, double value) {
        if (slot < 0 || slot > std::int64_t(most_nodes))
            malformed("slot out of range");
        if (std::size_t(slot) >= graph_.literals.size())
            graph_.literals.resize(std::size_t(slot) + 1);
        graph_.literals[std::size_t(slot)] = value;
    }

    std::int64_t argument_number(std::string_view name) const {
        const auto& all = graph_.arguments;
        const auto place =
            std::find_if(all.begin(), all.end(),
                         [&](const Argument& a) { return a.name == name; });
        if (place == all.end())
            malformed("no such argument");
        return place - all.begin();
    }

    Op op_of(std::string_view text) const {
        const std::size_t count =
            std::size_t(Op::Reduce) + 1 + all_op_rows().size();
        for (std::size_t op = 0; op < count; ++op)
            if (mnemonic(Op(op)) == text)
                return Op(op);
        malformed("no such operation");
    }

    Reduction reduction_of(std::string_view text) const {
        const auto rows = all_reduction_rows();
        for (std::size_t k = 0; k < rows.size(); ++k)
            if (rows[k].spelling == text)
                return Reduction(k);
        malformed("no such reduction");
    }

    void read_value() {
        Node node;
        auto words = words_of(typed(node.type));
        if (words.size() < 3 || words[1] != "=" ||
            words[0] != "%" + std::to_string(graph_.nodes.size()))
            malformed("the next value expected");
        node.op = op_of(words[2]);
        words.erase(words.begin(), words.begin() + 3);
        if (node.op == Op::Reduce)
            read_reduction(node, words);
        read_operands(node, words);
        read_attributes(node, words);
        graph_.nodes.push_back(node);
    }

    void read_reduction(Node& node, std::vector<std::string_view>& words) {
        if (words.size() < 3)
            malformed("reduction expected");
        node.first = std::int64_t(reduction_of(words[0]));
        node.second = std::int64_t(axes(words[1]));
        if (Reduction(node.first) == Reduction::Fold)
            node.fold = std::make_shared<Fold>(
                Fold{Reader().read(std::exchange(accumulate_, {})),
                     Reader().read(std::exchange(merge_, {}))});
        words.erase(words.begin(), words.begin() + 2);
        for (Pairs pairs : {Pairs::Chosen, Pairs::ChosenTransposed})
            if (words[0] == spelling_of(pairs)) {
                node.pairs = pairs;
                words.erase(words.begin());
                return;
            }
    }

    /// Takes the leading values off `words`.
    void read_operands(Node& node, std::vector<std::string_view>& words) {
        while (!words.empty() && words[0][0] == '%') {
            if (node.arity == node.operands.size())
                malformed("too many operands");
            node.operands[node.arity++] = reference(words[0]);
            words.erase(words.begin());
        }
    }

    void read_attributes(Node& node,
                         const std::vector<std::string_view>& words) {
        if (words.empty())
            return;
        if (node.op == Op::Argument) {
            node.first = argument_number(words[0]);
        } else if (node.op == Op::Constant) {
            node.value = number<double>(words[0]);
            node.second = words.size() > 1;
        } else if (node.op == Op::Reduce) {
            node.third = number<std::int64_t>(words[0]);
        } else {
            node.first = number<std::int64_t>(words[0]);
            if (words.size() > 1)
                node.second = number<std::int64_t>(words[1]);
            if (node.op == Op::Submatrix && words.size() > 2)
                node.third = number<std::int64_t>(words[2]);
            else
                node.third = words.size() > 2;
        }
        if (node.op == Op::Literal &&
            std::size_t(node.first) >= graph_.literals.size())
            set_literal(node.first, 0);
    }

    Graph graph_;
    std::string_view line_;
    /// The functions of the next fold, as text; `part_` is where indented
    /// lines go.
    std::string accumulate_, merge_;
    std::string* part_ = nullptr;
};

} // namespace

Graph parse_ir(std::string_view text) {
    return Reader().read(text);
}

} // namespace tilefold::ir
