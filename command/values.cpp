// command/values.cpp - words of the command line as arrays, and back.

#include "command/values.h"

#include <algorithm>
#include <complex>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <optional>
#include <regex>
#include <sstream>
#include <stdexcept>

namespace tilefold::command {
namespace {

constexpr std::int64_t most_shown = 20;

std::optional<double> number_of(const std::string& text) {
    std::istringstream words(text);
    double number = 0;
    if (words >> number &&
        words.peek() == std::istringstream::traits_type::eof())
        return number;
    return {};
}

/// The numbers between commas; none where one is no number.
std::vector<double> numbers_of(const std::string& text) {
    std::vector<double> numbers;
    std::istringstream parts(text);
    for (std::string part; std::getline(parts, part, ',');) {
        const std::optional<double> number = number_of(part);
        if (!number)
            return {};
        numbers.push_back(*number);
    }
    return numbers;
}

/// float32[1000,3]
std::optional<OwnedArray> zeros(const std::string& text) {
    std::smatch found;
    static const std::regex form("([a-z]+[0-9]+|bool)\\[([0-9, ]*)\\]");
    if (!std::regex_match(text, found, form))
        return {};
    OwnedArray array;
    array.type = type_named(found[1]);
    for (const double extent : numbers_of(found[2]))
        array.shape.push_back(std::int64_t(extent));
    array.bytes.resize(std::size_t(array.size() * array.type.bits / 8));
    return array;
}

OwnedArray vector_of(const std::vector<double>& numbers) {
    OwnedArray array{element_type<double>(),
                     {std::int64_t(numbers.size())},
                     {},
                     std::vector<std::byte>(numbers.size() * sizeof(double))};
    std::memcpy(array.bytes.data(), numbers.data(), array.bytes.size());
    return array;
}

/// Element k of a result of any type.
std::string element(const Tensor& result, std::int64_t k) {
    const DLDataType type = result.type();
    char text[80];
    if (type.code == kDLComplex && type.bits == 64) {
        const auto value = result.at<std::complex<float>>(k);
        std::snprintf(text, sizeof text, "%.8g%+.8gi", double(value.real()),
                      double(value.imag()));
    } else if (type.code == kDLComplex) {
        const auto value = result.at<std::complex<double>>(k);
        std::snprintf(text, sizeof text, "%.16g%+.16gi", value.real(),
                      value.imag());
    } else if (type.code == kDLFloat && type.bits == 32) {
        std::snprintf(text, sizeof text, "%.8g", double(result.at<float>(k)));
    } else if (type.code == kDLFloat && type.bits == 64) {
        std::snprintf(text, sizeof text, "%.16g", result.at<double>(k));
    } else if (type.code == kDLBool) {
        return result.at<bool>(k) ? "true" : "false";
    } else if (type.code == kDLInt && type.bits == 64) {
        return std::to_string(result.at<std::int64_t>(k));
    } else {
        throw std::runtime_error("results of " + name_of(type) +
                                 " are not printed: name a file, -o out.npy");
    }
    return text;
}

} // namespace

void Values::add(const std::string& word) {
    const std::size_t equals = word.find('=');
    if (equals == 0 || equals == std::string::npos)
        throw std::invalid_argument("'" + word + "' is not NAME=VALUE");
    const std::string name = word.substr(0, equals);
    const std::string value = word.substr(equals + 1);
    for (const Argument& other : arguments_)
        if (other.name == name)
            throw std::invalid_argument("'" + name + "' is given twice");
    const std::vector<double> numbers = numbers_of(value);
    if (numbers.size() == 1)
        arguments_.emplace_back(name, numbers[0]);
    else if (!numbers.empty())
        add_array(name, vector_of(numbers));
    else if (std::optional<OwnedArray> array = zeros(value))
        add_array(name, std::move(*array));
    else if (value.ends_with(".npy") || std::filesystem::exists(value))
        add_array(name, read_npy(value));
    else
        throw std::invalid_argument(
            name + ": '" + value +
            "' is neither a number (0.5), nor numbers (1,2,3), nor a type and "
            "a shape (float32[1000,3]), nor a file of NumPy (x.npy)");
}

void Values::add_array(const std::string& name, OwnedArray array) {
    arrays_.push_back(std::move(array));
    arguments_.emplace_back(name, arrays_.back().view());
}

std::string print(const Tensor& result) {
    const std::vector<std::int64_t> shape = result.shape();
    const std::int64_t columns = shape.size() < 2 ? 1 : shape.back();
    const std::int64_t rows = columns ? result.size() / columns : 0;
    std::string text;
    for (std::int64_t i = 0; i < rows; ++i) {
        if (rows > most_shown && i == most_shown / 2) {
            text += "…\n";
            i = rows - most_shown / 2;
        }
        for (std::int64_t k = 0; k < columns; ++k)
            text += (k ? " " : "") + element(result, i * columns + k);
        text += "\n";
    }
    return text;
}

} // namespace tilefold::command
