// compiler/build/free_names.cpp - the names a formula reads, before any array
// is known, and the dtype that the arrays' dtypes make it compute in.

#include "compiler/build/roles.h"
#include "formulas/names.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <numbers>
#include <optional>
#include <set>

namespace tilefold {
namespace {

using ast::Formula;
using ast::Kind;
using ast::NodeId;

struct Constant {
    std::string_view name;
    double value;
};
constexpr Constant named_constants[] = {
    {"inf", std::numeric_limits<double>::infinity()},
    {"nan", std::numeric_limits<double>::quiet_NaN()},
    {"pi", std::numbers::pi},
};

/// Follows the definitions that are used, each once.
class Collector {
public:
    explicit Collector(const Formula& formula)
        : formula_(formula), plain_(lacks_subscripts(formula)) {
        for (const ast::Definition& definition : formula.definitions)
            matrices_[definition.name] = matrix_parameters(definition);
    }

    std::vector<NameUse> run() {
        visit(formula_.root, {});
        while (!pending_.empty()) {
            const ast::Definition* definition = pending_.back();
            pending_.pop_back();
            visit(definition->body, definition->parameters);
        }
        std::vector<NameUse> names;
        for (auto& [name, use] : uses_)
            names.push_back(use);
        std::ranges::sort(
            names, {}, [](const NameUse& use) { return use.name.span.begin; });
        return names;
    }

private:
    void visit(NodeId root, const std::vector<std::string>& parameters) {
        std::vector<NodeId> path{root};
        std::set<NodeId> seen;
        while (!path.empty()) {
            const NodeId id = path.back();
            path.pop_back();
            if (!seen.insert(id).second)
                continue;
            const ast::Node& node = formula_[id];
            if (node.kind == Kind::Apply && node.name == "^")
                exponents_.insert(node.children[1]);
            if (node.kind == Kind::Apply && node.name == "gather")
                add_gather(node);
            if (node.kind == Kind::Apply)
                add_matrices(node);
            if (node.kind == Kind::Apply && is_comparison(node.name))
                add_comparison(node);
            if (node.kind == Kind::Name || node.kind == Kind::Variable)
                add(node, id, parameters);
            if (node.kind == Kind::Apply || node.kind == Kind::Function)
                use_definition(node.name);
            path.insert(path.end(), node.children.begin(), node.children.end());
        }
    }

    void add_gather(const ast::Node& node) {
        for (std::size_t k = 1; k < node.children.size(); ++k)
            indices_.insert(whole(node.children[k]));
        tables_.insert(node.children[0]);
    }

    static bool is_comparison(const std::string& name) {
        static const std::set<std::string> all = {"<",  "<=", ">",
                                                  ">=", "==", "!="};
        return all.contains(name);
    }

    /// Notes what each side is compared with, where that is a name or whole by
    /// itself.
    void add_comparison(const ast::Node& node) {
        for (std::size_t k = 0; k < node.children.size(); ++k) {
            const ast::Node& other = formula_[whole(node.children[1 - k])];
            const NodeId own = whole(node.children[k]);
            const bool is_whole = other.kind == Kind::Index ||
                                  (other.kind == Kind::Number &&
                                   std::trunc(other.value) == other.value);
            if (other.kind == Kind::Variable || other.kind == Kind::Name)
                compared_[own].insert(other.name);
            else if (is_whole)
                compared_[own];
        }
    }

    /// What is multiplied as a matrix, here or in the definition that is
    /// called.
    void add_matrices(const ast::Node& node) {
        if (node.name == "@")
            tables_.insert(node.children.begin(), node.children.end());
        const auto called = matrices_.find(node.name);
        if (called == matrices_.end())
            return;
        for (std::size_t k : called->second)
            if (k < node.children.size())
                tables_.insert(node.children[k]);
    }

    /// The parameters of a definition that it multiplies as matrices.
    std::set<std::size_t>
    matrix_parameters(const ast::Definition& definition) const {
        std::set<std::size_t> found;
        std::set<NodeId> seen;
        std::vector<NodeId> path{definition.body};
        while (!path.empty()) {
            const NodeId id = path.back();
            path.pop_back();
            if (!seen.insert(id).second)
                continue;
            const ast::Node& node = formula_[id];
            path.insert(path.end(), node.children.begin(), node.children.end());
            if (node.kind != Kind::Apply || node.name != "@")
                continue;
            for (const NodeId child : node.children) {
                const auto place = std::ranges::find(definition.parameters,
                                                     formula_[child].name);
                if (formula_[child].kind == Kind::Name &&
                    place != definition.parameters.end())
                    found.insert(
                        std::size_t(place - definition.parameters.begin()));
            }
        }
        return found;
    }

    /// What a value is a component of, or itself.
    NodeId whole(NodeId id) const {
        while (formula_[id].kind == Kind::Subscript)
            id = formula_[id].children[0];
        return id;
    }

    bool use_definition(const std::string& name) {
        for (const ast::Definition& definition : formula_.definitions)
            if (definition.name == name) {
                if (used_.insert(name).second)
                    pending_.push_back(&definition);
                return true;
            }
        return false;
    }

    /// Every T is the exponent of a power.
    bool is_constant(const ast::Node& node, NodeId id) const {
        double value = 0;
        if (node.name == transpose_exponent)
            return exponents_.contains(id);
        return find_constant(node.name, value) || node.name == imaginary_unit ||
               is_size(node.name);
    }

    void add(const ast::Node& node, NodeId id,
             const std::vector<std::string>& parameters) {
        const bool bare = node.kind == Kind::Name;
        if (bare && (std::ranges::count(parameters, node.name) != 0 ||
                     use_definition(node.name)))
            return;
        const Axes axes = bare ? axes_of_bare(node.name) : axes_of(node.axes);
        const bool is_index = indices_.contains(id);
        const auto [place, is_new] = uses_.emplace(
            node.name,
            NameUse{{node.name, axes, node.span, is_index}, false, bare});
        FreeName& known = place->second.name;
        known.is_table |= tables_.contains(id);
        const auto compared = compared_.find(id);
        known.is_compared =
            compared != compared_.end() && (is_new || known.is_compared);
        if (known.is_compared)
            known.compared_with.insert(compared->second.begin(),
                                       compared->second.end());
        const bool constant = axes == Axes::None && is_constant(node, id);
        if (is_new) {
            place->second.is_constant = constant;
            return;
        }
        place->second.is_constant &= constant;
        known.is_index &= is_index;
        if ((axes == Axes::None) != (known.axes == Axes::None))
            mixed_roles(node, known);
        known.axes = known.axes | axes;
        if (node.span.begin < known.span.begin)
            known.span = node.span;
    }

    /// The error points at the later of the two uses.
    [[noreturn]] void mixed_roles(const ast::Node& node,
                                  const FreeName& known) const {
        const auto [first, second] =
            std::minmax(known.span, node.span,
                        [](Span a, Span b) { return a.begin < b.begin; });
        const auto text = [&](Span span) {
            return formula_.text.substr(span.begin, span.end - span.begin);
        };
        fail(Code::MixedRoles, {formula_.text, second},
             {node.name, text(first), text(second)});
    }

    /// A head names the i- and the j-variable; without head and subscripts
    /// they are x and y.
    Axes axes_of_bare(const std::string& name) const {
        static const std::vector<std::string> usual = {"x", "y"};
        if (!formula_.head && !plain_)
            return Axes::None;
        const auto& names = formula_.head ? formula_.head->parameters : usual;
        const auto place = std::ranges::find(names, name);
        if (place == names.end())
            return Axes::None;
        return place == names.begin() ? Axes::I : Axes::J;
    }

    const Formula& formula_;
    bool plain_;
    std::map<std::string, NameUse> uses_;
    std::set<std::string> used_;
    std::set<NodeId> exponents_;
    std::set<NodeId> indices_;                         ///< of tables
    std::map<NodeId, std::set<std::string>> compared_; ///< with these names
    /// By the name of a definition.
    std::map<std::string, std::set<std::size_t>> matrices_;
    std::set<NodeId> tables_; ///< of which rows are chosen, and matrices
    std::vector<const ast::Definition*> pending_;
};

const ArgumentType* find_argument(std::span<const ArgumentType> arguments,
                                  const std::string& name) {
    for (const ArgumentType& argument : arguments)
        if (normalise_name(argument.name) == name)
            return &argument;
    return nullptr;
}

bool wants_double(DType dtype) {
    switch (kind_of(dtype)) {
    case DTypeKind::Float:
        return dtype == DType::F64;
    case DTypeKind::Signed:
    case DTypeKind::Unsigned:
        return size_of(dtype) > 2;
    case DTypeKind::Truth:
        return false;
    }
    return false;
}

} // namespace

bool find_constant(std::string_view name, double& value) {
    for (const Constant& constant : named_constants)
        if (constant.name == name) {
            value = constant.value;
            return true;
        }
    return false;
}

std::vector<PointArray> arrays_of_points(std::vector<PointArray> arrays) {
    const auto is_usual = [](const PointArray& array) {
        return array.name == "x" || array.name == "y";
    };
    std::erase_if(arrays, [](const PointArray& array) {
        return array.axes == Axes::None;
    });
    if (std::ranges::any_of(arrays, is_usual))
        std::erase_if(arrays, std::not_fn(is_usual));
    return arrays;
}

bool lacks_subscripts(const Formula& formula) {
    return !formula.head &&
           std::ranges::none_of(formula.nodes, [](const ast::Node& node) {
               return node.kind == Kind::Variable;
           });
}

std::vector<NameUse> names_read(const Formula& formula) {
    return Collector(formula).run();
}

std::vector<FreeName> free_names(const Formula& formula) {
    std::vector<FreeName> names;
    for (const NameUse& use : names_read(formula))
        if (!use.is_constant)
            names.push_back(use.name);
    return names;
}

namespace {

/// The axes that values of the formula have.
class AxesOfValues {
public:
    AxesOfValues(const Formula& formula, std::span<const FreeName> names)
        : formula_(formula), names_(names) {}

    using Bound = std::map<std::string, Axes>;

    Axes of(ast::NodeId id, const Bound& bound) {
        const ast::Node& node = formula_[id];
        Axes all = Axes::None;
        Bound inner;
        const ast::Definition* definition = nullptr;
        if (node.kind == ast::Kind::Apply || node.kind == ast::Kind::Name)
            definition = find(node.name);
        for (std::size_t k = 0; k < node.children.size(); ++k) {
            const Axes axes = of(node.children[k], bound);
            all = all | axes;
            if (definition && k < definition->parameters.size())
                inner[definition->parameters[k]] = axes;
        }
        if (node.kind == ast::Kind::Name && bound.contains(node.name))
            return bound.at(node.name);
        if (definition)
            return of_definition(*definition, inner);
        switch (node.kind) {
        case ast::Kind::Function:
            return Axes::None;
        case ast::Kind::Name:
            return of_name(node.name);
        case ast::Kind::Variable:
        case ast::Kind::Index:
            return axes_of(node.axes);
        case ast::Kind::Reduce:
            return without(all, axes_of(node.axes));
        default:
            return all;
        }
    }

private:
    /// Walks each definition once: a chain of definitions that read each other
    /// twice has more paths than there is time.
    Axes of_definition(const ast::Definition& definition, const Bound& bound) {
        const auto [place, is_new] =
            known_.try_emplace({definition.body, bound}, Axes::None);
        if (is_new)
            place->second = of(definition.body, bound);
        return place->second;
    }

    const ast::Definition* find(const std::string& name) const {
        const auto place = std::ranges::find(formula_.definitions, name,
                                             &ast::Definition::name);
        return place == formula_.definitions.end() ? nullptr : &*place;
    }

    Axes of_name(const std::string& name) const {
        const auto place = std::ranges::find(names_, name, &FreeName::name);
        return place == names_.end() ? Axes::None : place->axes;
    }

    const Formula& formula_;
    std::span<const FreeName> names_;
    std::map<std::pair<ast::NodeId, Bound>, Axes> known_;
};

} // namespace

Axes axes_of_result(const Formula& formula, std::span<const FreeName> names) {
    return AxesOfValues(formula, names).of(formula.root, {});
}

namespace {

/// The promotion of the arguments that are `counted`; none: there are none.
template <class Counted>
std::optional<DType> promotion(std::span<const ArgumentType> arguments,
                               std::span<const FreeName> names,
                               Counted counted) {
    std::optional<DType> found;
    for (const FreeName& name : names) {
        const ArgumentType* argument = find_argument(arguments, name.name);
        if (!argument || !counted(name, *argument))
            continue;
        if (wants_double(argument->dtype))
            return DType::F64;
        found = DType::F32;
    }
    return found;
}

bool is_on_axis(const FreeName& name, const ArgumentType& argument) {
    return argument.declared.value_or(name.axes) != Axes::None;
}

} // namespace

DType computing_dtype(std::span<const ArgumentType> arguments,
                      std::span<const FreeName> names) {
    const auto is_integer = [&](const std::string& name) {
        const ArgumentType* argument = find_argument(arguments, name);
        return argument && (kind_of(argument->dtype) == DTypeKind::Signed ||
                            kind_of(argument->dtype) == DTypeKind::Unsigned);
    };
    const auto is_label = [&](const FreeName& name) {
        return name.is_compared && is_integer(name.name) &&
               std::ranges::all_of(name.compared_with, is_integer);
    };
    const auto has_numbers = [](const FreeName& name,
                                const ArgumentType& type) {
        return is_on_axis(name, type) && !name.is_index;
    };
    const auto has_values = [&](const FreeName& name,
                                const ArgumentType& type) {
        return has_numbers(name, type) && !is_label(name);
    };
    const auto is_table = [](const FreeName& name, const ArgumentType& type) {
        return !is_on_axis(name, type) && type.rank > 0;
    };
    if (const auto dtype = promotion(arguments, names, has_values))
        return *dtype;
    if (const auto dtype = promotion(arguments, names, has_numbers))
        return *dtype; // of labels alone
    if (!promotion(arguments, names, is_on_axis))
        return DType::F64;
    return promotion(arguments, names, is_table).value_or(DType::F64);
}

} // namespace tilefold
