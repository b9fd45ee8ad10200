// formulas/excerpt.cpp - the line of the formula an error points at.
#include "formulas/excerpt.h"

#include "formulas/utf8.h"

#include <algorithm>
#include <climits>
#include <vector>

namespace tilefold {

namespace {

constexpr int indent = 2;
constexpr int widest = 100; // columns of a shown line, its indent included
constexpr int tab_width = 8;
constexpr std::size_t most_lines = 8; // shown where no place is known
// Bytes of a line that are looked at on either side of a place: enough for its
// width, and an end for what has none, such as a million accents.
constexpr std::size_t reach = 16 * widest;

/// A character as it is shown, and the bytes of the formula it stands for.
struct Cell {
    std::string shown;
    int width = 1;
    std::size_t begin = 0;
    std::size_t end = 0;
};

std::string_view without_return(std::string_view line) {
    return line.ends_with('\r') ? line.substr(0, line.size() - 1) : line;
}

std::size_t line_begin(std::string_view text, std::size_t at) {
    if (at == 0)
        return 0;
    const std::size_t found = text.rfind('\n', at - 1);
    return found == std::string_view::npos ? 0 : found + 1;
}

std::string_view line_at(std::string_view text, std::size_t begin) {
    return without_return(text.substr(begin, text.find('\n', begin) - begin));
}

Cell cell_at(std::string_view line, std::size_t at) {
    const auto [code, length] = utf8::decode(line, at);
    if (length == 0)
        return {"�", 1, at, at + 1};
    if (code == '\t')
        return {"\t", tab_width, at, at + 1};
    if (utf8::is_control(code))
        return {"�", 1, at, at + length};
    return {std::string(line.substr(at, length)),
            std::max(utf8::width(code), 0), at, at + length};
}

constexpr const char* cut = "…";

bool is_inside_character(std::string_view text, std::size_t at) {
    return at < text.size() && (text[at] & 0xC0) == 0x80;
}

/// The characters of bytes [begin, end) of `text`, on one line, near `place`.
std::vector<Cell> cells_of(std::string_view text, std::size_t begin,
                           std::size_t end, std::size_t place) {
    std::vector<Cell> cells;
    std::size_t first = place > begin + reach ? place - reach : begin;
    std::size_t last = end - first > 2 * reach ? first + 2 * reach : end;
    while (first > begin && is_inside_character(text, first))
        --first;
    while (last < end && is_inside_character(text, last))
        ++last;
    const std::string_view upto = text.substr(0, last);
    if (first > begin)
        cells.push_back({cut, 1, 0, 0});
    for (std::size_t at = first; at < last; at = cells.back().end)
        cells.push_back(cell_at(upto, at));
    if (last < end)
        cells.push_back({cut, 1, 0, 0});
    return cells;
}

int width_of(const std::vector<Cell>& cells) {
    int width = 0;
    for (const Cell& cell : cells)
        width = std::min(width + cell.width, INT_MAX / 2);
    return width;
}

bool inside(const Cell& cell, Span span) {
    return cell.begin < span.end && cell.end > span.begin;
}

/// Keeps the characters around the first of `span` that fit.
std::vector<Cell> window(std::vector<Cell> cells, Span span) {
    for (Cell& cell : cells)
        if (cell.shown == "\t")
            cell.shown = " ", cell.width = 1;
    if (width_of(cells) <= widest - indent)
        return cells;
    const auto at = [&](std::size_t byte) {
        return std::ranges::find_if(
            cells, [=](const Cell& cell) { return cell.end > byte; });
    };
    auto first = at(span.begin);
    auto last = at(std::max(span.end, std::uint32_t{1}) - 1);
    if (last != cells.end())
        ++last;
    int room = widest - indent - 2; // two for the marks of the cuts
    auto end = first;
    while (end != last && room >= end->width)
        room -= end++->width;
    int before = room / 2;
    while (first != cells.begin() && before >= (first - 1)->width)
        before -= (--first)->width, room -= first->width;
    while (end != cells.end() && room >= end->width)
        room -= end++->width;
    while (first != cells.begin() && room >= (first - 1)->width)
        room -= (--first)->width;
    std::vector<Cell> kept(first, end);
    if (first != cells.begin())
        kept.insert(kept.begin(), Cell{cut, 1, 0, 0});
    if (end != cells.end())
        kept.push_back(Cell{cut, 1, 0, 0});
    return kept;
}

std::string show(const std::vector<Cell>& cells) {
    std::string shown(indent, ' ');
    for (const Cell& cell : cells)
        shown += cell.shown;
    return shown;
}

/// Returns `^~~~` under the characters of `span`; a tab stays a tab.
std::string underline(const std::vector<Cell>& cells, Span span) {
    std::string marks(indent, ' ');
    std::size_t drawn = marks.size();
    bool started = false;
    for (const Cell& cell : cells) {
        const bool marked = inside(cell, span) && cell.end != 0;
        if (cell.shown == "\t") {
            marks += '\t';
        } else {
            for (int column = 0; column < cell.width; ++column) {
                marks += !marked ? ' ' : started ? '~' : '^';
                started = started || marked;
            }
        }
        if (marked && started)
            drawn = marks.size();
    }
    marks.resize(drawn);
    return started ? marks : marks + '^';
}

std::string whole(std::string_view formula) {
    std::string shown;
    std::size_t begin = 0;
    for (std::size_t line = 0; line < most_lines; ++line) {
        const std::string_view text = line_at(formula, begin);
        const auto cells = cells_of(formula, begin, begin + text.size(), begin);
        const Span start{static_cast<std::uint32_t>(begin),
                         static_cast<std::uint32_t>(begin)};
        shown +=
            (line == 0 ? "" : "\n") + show(width_of(cells) <= widest - indent
                                               ? cells
                                               : window(cells, start));
        begin = formula.find('\n', begin);
        if (begin == std::string_view::npos)
            return shown;
        ++begin;
    }
    return shown + "\n" + std::string(indent, ' ') + cut;
}

} // namespace

std::string excerpt(std::string_view formula, Span span) {
    if (span.begin >= span.end || span.begin >= formula.size())
        return whole(formula);
    const std::size_t begin = line_begin(formula, span.begin);
    const std::string_view line = line_at(formula, begin);
    auto cells = cells_of(formula, begin, begin + line.size(), span.begin);
    if (width_of(cells) > widest - indent)
        cells = window(std::move(cells), span);
    return show(cells) + "\n" + underline(cells, span);
}

std::string shorten(std::string_view text, int columns) {
    std::string shown;
    int used = 0;
    for (std::size_t at = 0; at < text.size();) {
        const Cell cell = cell_at(text, at);
        const int width = cell.shown == "\t" ? 1 : cell.width;
        if ((used + width > columns - 1 || at > reach) &&
            cell.end < text.size())
            return shown + cut;
        shown += cell.shown;
        used += width;
        at = cell.end;
    }
    return shown;
}

} // namespace tilefold
