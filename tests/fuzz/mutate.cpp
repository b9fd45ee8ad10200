// tests/fuzz/mutate.cpp - changes that keep most of a formula's grammar.
#include "tests/fuzz/mutate.h"

#include "formulas/printer.h"
#include "tests/fuzz/seeds.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <iterator>
#include <vector>

namespace tilefold::tests {
namespace {

constexpr std::size_t most_bytes = 120'000; // the limit is 100,000

const std::string& one_of(Random& random, const std::vector<std::string>& all) {
    return all[std::size_t(below(random, int(all.size())))];
}

std::size_t place_in(Random& random, const std::string& text) {
    return std::size_t(below(random, int(text.size()) + 1));
}

bool is_letter(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' ||
           c == '.' || static_cast<unsigned char>(c) >= 0x80;
}

/// Words, numbers and single symbols; spaces go with what precedes them.
std::vector<std::string> pieces_of(const std::string& text) {
    std::vector<std::string> pieces;
    for (std::size_t k = 0; k < text.size();) {
        std::size_t end = k + 1;
        while (is_letter(text[k]) && end < text.size() && is_letter(text[end]))
            ++end;
        while (end < text.size() && text[end] == ' ')
            ++end;
        pieces.push_back(text.substr(k, end - k));
        k = end;
    }
    return pieces;
}

std::string joined(const std::vector<std::string>& pieces) {
    std::string text;
    for (const std::string& piece : pieces)
        text += piece;
    return text;
}

/// A part in brackets, or a word with the part in brackets after it.
std::string group_in(Random& random, const std::string& text) {
    const std::vector<std::string> pieces = pieces_of(text);
    if (pieces.empty())
        return "x_i";
    const std::size_t first = std::size_t(below(random, int(pieces.size())));
    std::string group = pieces[first];
    int depth = 0;
    for (std::size_t k = first + 1; k < pieces.size(); ++k) {
        const char c = pieces[k][0];
        depth += (c == '(' || c == '[') - (c == ')' || c == ']');
        if (depth < 0 || (depth == 0 && c != ')' && c != ']'))
            break;
        group += pieces[k];
    }
    return group;
}

std::string number(Random& random) {
    constexpr const char* numbers[] = {"0",
                                       "1",
                                       "2",
                                       "16",
                                       "17",
                                       "255",
                                       "65536",
                                       "2147483647",
                                       "2147483648",
                                       "9223372036854775807",
                                       "9223372036854775808",
                                       "1e400",
                                       "1e-400",
                                       "0.1",
                                       "1000000",
                                       "3",
                                       "99999999999999999999999999",
                                       "1e5",
                                       "4.0"};
    return numbers[below(random, std::size(numbers))];
}

/// Another number in the place of one.
std::string with_a_number(Random& random, const std::string& text) {
    std::vector<std::string> pieces = pieces_of(text);
    std::vector<std::size_t> numbers;
    for (std::size_t k = 0; k < pieces.size(); ++k)
        if (std::isdigit(static_cast<unsigned char>(pieces[k][0])))
            numbers.push_back(k);
    if (numbers.empty())
        return text + " + " + number(random);
    pieces[numbers[std::size_t(below(random, int(numbers.size())))]] =
        number(random);
    return joined(pieces);
}

/// An operand inside an operation, a reduction, or many of them.
std::string wrapped(Random& random, const std::string& text) {
    constexpr const char* heads[] = {"(",       "-(",          "exp(",
                                     "|",       "sqrt(",       "sum_j(",
                                     "sum_i(",  "sum_ij(",     "logsumexp_j(",
                                     "mean_j(", "[",           "norm(",
                                     "not (",   "grad(",       "laplacian(",
                                     "var_j(",  "std_i(",      "argmin_j(",
                                     "min(",    "argkmin_j(",  "kmin_j(",
                                     "jvp(",    "divergence(", "(i≠j) (",
                                     "ln("};
    constexpr const char* ends[] = {")", ")", ", x_i)", ", 3)",
                                    "|", "]", ")²",     ", y_j)"};
    const int at_most[] = {1, 1, 1, 2, 3, 30, 300, 1100};
    const char* head = heads[below(random, std::size(heads))];
    const char* end = head[0] == '|'   ? "|"
                      : head[0] == '[' ? "]"
                                       : ends[below(random, std::size(ends))];
    std::string result;
    const int times = 1 + below(random, at_most[below(random, 8)]);
    for (int k = 0; k < times; ++k)
        result += head;
    result += text;
    for (int k = 0; k < times; ++k)
        result += end;
    return result;
}

/// The same term again and again: long sums, long products.
std::string repeated(Random& random, const std::string& text) {
    constexpr const char* between[] = {" + ", "*", " ",     "-", ", ",
                                       "/",   "^", " and ", "·", ""};
    const int at_most[] = {3, 3, 10, 100, 1100, 5000};
    const std::string part = group_in(random, text);
    const char* operation = between[below(random, std::size(between))];
    std::string result = text;
    const int times = below(random, at_most[below(random, 6)]);
    for (int k = 0; k < times && result.size() < most_bytes; ++k)
        result += operation + part;
    return result;
}

std::string with_bytes(Random& random, std::string text) {
    for (int k = 1 + below(random, 3); k > 0; --k)
        text.insert(place_in(random, text), 1, char(below(random, 256)));
    return text;
}

std::string edited(Random& random, const std::string& text, bool keops) {
    std::vector<std::string> pieces = pieces_of(text);
    if (pieces.empty())
        return one_of(random, seeds().words);
    const std::size_t at = std::size_t(below(random, int(pieces.size())));
    const auto place = pieces.begin() + std::ptrdiff_t(at);
    switch (below(random, 12)) {
    case 0:
        pieces.erase(place);
        break;
    case 1:
    case 2:
        *place = one_of(random, seeds().words);
        break;
    case 3:
        pieces.insert(place, one_of(random, seeds().words));
        break;
    case 4:
        pieces.insert(place, *place);
        break;
    case 5:
    case 6: {
        const auto& all = keops ? seeds().keops : seeds().formulas;
        *place = group_in(random, one_of(random, all));
        break;
    }
    case 7:
        return with_a_number(random, text);
    case 8:
        return wrapped(random, text);
    case 9:
        return repeated(random, text);
    case 10:
        return with_bytes(random, text);
    default:
        std::swap(*place,
                  pieces[std::size_t(below(random, int(pieces.size())))]);
    }
    return joined(pieces);
}

} // namespace

std::string random_text(Random& random, bool keops) {
    std::string text;
    if (keops)
        text = one_of(random, seeds().keops);
    else if (below(random, 3) == 0)
        text = print(random_formula(random, 1 + below(random, 5)));
    else
        text = one_of(random, seeds().formulas);
    const int at_most[] = {1, 1, 2, 3, 8};
    for (int edits = below(random, 1 + at_most[below(random, 5)]); edits > 0;
         --edits)
        text = edited(random, text, keops);
    return text.substr(0, most_bytes);
}

std::string quoted(const std::string& text) {
    std::string result = "\"";
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        char octal[5];
        std::snprintf(octal, sizeof octal, "\\%03o", unsigned(byte));
        if (c == '"' || c == '\\')
            result += std::string("\\") + c;
        else if (byte < 0x20 || byte > 0x7e)
            result += octal;
        else
            result += c;
    }
    return result + "\"";
}

} // namespace tilefold::tests
