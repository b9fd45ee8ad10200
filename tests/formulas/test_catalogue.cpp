// tests/formulas/test_catalogue.cpp - the named formulas are formulas.
#include "formulas/catalogue.h"
#include "formulas/parser.h"
#include "tests/formulas/vocabulary.h"

#include <gtest/gtest.h>
#include <set>

namespace tilefold::tests {

namespace {

/// The bare names a caller must pass, as catalogue.def lists them.
std::string parameters_of(const ast::Formula& formula) {
    std::set<std::string> known = {"pi", "inf", "x", "y"};
    for (const ast::Definition& definition : formula.definitions)
        known.insert(definition.name);
    std::string list;
    for (const ast::Node& node : formula.nodes)
        if (node.kind == ast::Kind::Name && known.insert(node.name).second)
            list += (list.empty() ? "" : ", ") + node.name;
    return list;
}

} // namespace

TEST(Catalogue, HoldsFormulas) {
    for (const NamedFormula& row : catalogue) {
        try {
            const ast::Formula formula = parse(row.formula, vocabulary());
            EXPECT_EQ(parameters_of(formula), row.parameters) << row.name;
        } catch (const Error& error) {
            ADD_FAILURE() << row.name << ": " << error.what();
        }
    }
}

TEST(Catalogue, HasOneRowPerName) {
    std::set<std::string_view> names;
    for (const NamedFormula& row : catalogue) {
        EXPECT_TRUE(names.insert(row.name).second) << row.name;
        EXPECT_FALSE(row.doc.empty()) << row.name;
    }
}

} // namespace tilefold::tests
