// tests/formulas/vocabulary.cpp - a small language for tests of the parser.
#include "tests/formulas/vocabulary.h"

#include <limits>
#include <map>

namespace tilefold::tests {

namespace {

using Table = std::map<std::string, Vocabulary::Arity, std::less<>>;

constexpr int any_number = std::numeric_limits<int>::max();

constexpr Vocabulary::Arity chain = {.least = 1, .most = 2, .chains = true};

const Table functions = {
    {"abs", {1, 1}},       {"acos", {1, 1}},       {"asin", {1, 1}},
    {"atan2", {2, 2}},     {"clamp", {3, 3}},      {"concat", {1, any_number}},
    {"cos", {1, 1}},       {"cross", {2, 2}},      {"dot", {2, 2}},
    {"erf", {1, 1}},       {"exp", {1, 1}},        {"floor", {1, 1}},
    {"lgamma", {1, 1}},    {"log", {1, 1}},        {"max", chain},
    {"min", chain},        {"mod", {2, 2}},        {"norm", {1, 1}},
    {"relu", {1, 1}},      {"round", {1, 2}},      {"rsqrt", {1, 1}},
    {"sign", {1, 1}},      {"sin", {1, 1}},        {"sqdist", {2, 2}},
    {"sqnorm", {1, 1}},    {"sqrt", {1, 1}},       {"sum", {1, 1}},
    {"tanh", {1, 1}},      {"where", {3, 3}},      {"pinv", {1, 1}},
    {"matvec", {2, 2}},    {"vecmat", {2, 2}},     {"quadratic", {2, 2}},
    {"pad", {3, 3}},       {"vjp", {3, 3}},        {"jvp", {3, 3}},
    {"jacobian", {2, 2}},  {"divergence", {2, 2}}, {"laplacian", {2, 2}},
    {"gather", {2, 3}},    {"outer", {2, 2}},      {"onehot", {2, 2}},
    {"tensordot", {6, 7}}, {"sigmoid", {1, 1}},    {"cosine", {3, 3, true}},
    {"atan", {1, 1}},      {"xlogx", {1, 1}},      {"sinxdivx", {1, 1}},
    {"ceil", {1, 1}},
};

const Table reductions = {
    {"all", {1, 1}},
    {"any", {1, 1}},
    {"argkmin", {2, 2}},
    {"argmax", {1, 1}},
    {"argmin", {1, 1}},
    {"count", {1, 1}},
    {"fold", {.least = 3, .most = 5, .values = 2}},
    {"kmin", {2, 2}},
    {"logsumexp", {1, 2}},
    {"max", {1, 1}},
    {"mean", {1, 1}},
    {"min", {1, 1}},
    {"prod", {1, 1}},
    {"softmax", {2, 2}},
    {"sum", {1, 1}},
};

const std::map<std::string, std::string, std::less<>> keops_operations = {
    {"OneHot", "onehot"}, {"TensorProd", "outer"}, {"TensorDot", "tensordot"},
    {"ExtractT", "pad"},  {"Abs", "abs"},          {"Add", "+"},
    {"Divide", "/"},      {"Exp", "exp"},          {"Log", "log"},
    {"Max", "max"},       {"Minus", "neg"},        {"Mod", "mod"},
    {"Mult", "*"},        {"Norm2", "norm"},       {"Powf", "^"},
    {"Round", "round"},   {"Scalprod", "·"},       {"Sin", "sin"},
    {"SqDist", "sqdist"}, {"SqNorm2", "sqnorm"},   {"Sum", "sum"},
};

const std::map<std::string, std::string, std::less<>> keops_reductions = {
    {"ArgKMin", "argkmin"}, {"KMin", "kmin"}, {"LogSumExp", "logsumexp"},
    {"Max", "max"},         {"Sum", "sum"},
};

Vocabulary::Arity look_up(const Table& table, std::string_view name) {
    const auto found = table.find(name);
    return found == table.end() ? Vocabulary::Arity{} : found->second;
}

std::vector<std::string> all_names() {
    std::vector<std::string> names;
    for (const Table* table : {&functions, &reductions})
        for (const auto& [name, arity] : *table)
            names.push_back(name);
    return names;
}

} // namespace

const Vocabulary& vocabulary() {
    static const Vocabulary known = [] {
        Vocabulary made;
        made.function = [](std::string_view name) {
            return look_up(functions, name);
        };
        made.reduction = [](std::string_view name) {
            return look_up(reductions, name);
        };
        made.names = all_names;
        made.is_linear = [](std::string_view name) {
            return name == "sum" || name == "mean";
        };
        made.keops_operation = [](std::string_view name) {
            const auto found = keops_operations.find(name);
            return found == keops_operations.end() ? "" : found->second;
        };
        made.keops_reduction = [](std::string_view name) {
            const auto found = keops_reductions.find(name);
            return found == keops_reductions.end() ? "" : found->second;
        };
        return made;
    }();
    return known;
}

} // namespace tilefold::tests
