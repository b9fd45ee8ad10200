// formulas/equal.cpp - when two formulas say the same.
#include "formulas/equal.h"

#include <algorithm>

namespace tilefold {

using ast::Definition;
using ast::Formula;
using ast::Node;
using ast::NodeId;

namespace {

bool equal_nodes(const Formula& a, NodeId left, const Formula& b,
                 NodeId right) {
    const Node& x = a[left];
    const Node& y = b[right];
    if (x.kind != y.kind || x.axes != y.axes || x.implicit != y.implicit ||
        x.crosses != y.crosses || x.is_range != y.is_range ||
        x.value != y.value || x.first != y.first || x.last != y.last ||
        x.name != y.name)
        return false;
    return std::ranges::equal(x.children, y.children,
                              [&](NodeId first, NodeId second) {
                                  return equal_nodes(a, first, b, second);
                              });
}

bool equal_definitions(const Formula& a, const Definition& left,
                       const Formula& b, const Definition& right) {
    return left.name == right.name && left.parameters == right.parameters &&
           left.is_function == right.is_function &&
           equal_nodes(a, left.body, b, right.body);
}

} // namespace

bool equal(const Formula& a, const Formula& b) {
    if (a.head.has_value() != b.head.has_value())
        return false;
    if (a.head && (a.head->name != b.head->name ||
                   a.head->parameters != b.head->parameters))
        return false;
    return equal_nodes(a, a.root, b, b.root) &&
           std::ranges::equal(a.definitions, b.definitions,
                              [&](const Definition& x, const Definition& y) {
                                  return equal_definitions(a, x, b, y);
                              });
}

} // namespace tilefold
