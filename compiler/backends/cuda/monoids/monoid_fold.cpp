// compiler/backends/cuda/monoids/monoid_fold.cpp - a monoid of the user's
// functions.
//
// A tile starts from the initial state and accumulates in the computing dtype;
// its state then merges into the row's, in double. What the functions are
// given is rounded to the computing dtype in both, so that a number of the
// formula equals itself.

#include "compiler/backends/cuda/monoids/monoid.h"
#include "compiler/ir/queries.h"

namespace tilefold::cuda {
namespace {

using ir::ValueId;

using Read = std::function<Code(const Component&)>;

class UserDefined : public Monoid {
public:
    UserDefined(const Registers& registers, const LoweredReduction& reduction)
        : Monoid(registers, reduction), size_(length(0)) {}

    void identity(Scene& scene) override {
        each(scene, 1, [&](const Component& at) {
            scene.writer.set(state(scene.state, 0, at),
                             as(Kind::Double, constant(scene, 1, at)));
        });
    }

    void begin(Scene& scene) override {
        each(scene, 1, [&](const Component& at) {
            scene.writer.set(partial(scene, 0, at), constant(scene, 1, at));
        });
    }

    void add(Scene& scene) override {
        apply(
            scene, node().fold->accumulate,
            [&](const Component& at) { return partial(scene, 0, at); },
            [&](const Component& at) { return read(scene, 0, at, real()); });
    }

    void finish_tile(Scene& scene) override {
        apply(
            scene, node().fold->merge,
            [&](const Component& at) { return state(scene.state, 0, at); },
            [&](const Component& at) {
                return as(Kind::Double, partial(scene, 0, at));
            });
    }

    void merge(Scene& scene, const Code& from) override {
        apply(
            scene, node().fold->merge,
            [&](const Component& at) { return state(scene.state, 0, at); },
            [&](const Component& at) { return state(from, 0, at); });
    }

    Code result(Scene& scene, const Component& at, const Code&) override {
        return as(result_kind(), state(scene.state, 0, at));
    }

private:
    /// Returns an operand on {}, rounded to the computing dtype.
    Code constant(Scene& scene, std::size_t number, const Component& at) const {
        return read(scene, number, at, real());
    }

    /// Writes left = function(left, right): all components are computed before
    /// the first is set.
    void apply(Scene& scene, const ir::Graph& function, const Read& left,
               const Read& right) const {
        const Kind kind = kind_of_value(function.real);
        const Read given = [&](const Component& at) {
            return as(kind, constant(scene, 2, at));
        };
        const Read* reads[] = {&left, &right, &given};
        const Leaves leaves = [&](ValueId id,
                                  const Component& at) -> std::optional<Code> {
            const ir::Node& node = function[id];
            if (node.op != ir::Op::Argument)
                return std::nullopt;
            const auto role =
                ir::role_of(function.arguments[std::size_t(node.first)]);
            return (*reads[role])(at);
        };
        Values inside(function, scene.writer, leaves);
        const Type& type = function[function.result].type;
        std::vector<Code> next;
        for (std::int64_t k = 0; k < size_; ++k)
            next.push_back(scene.writer.let(
                "next",
                as(kind, inside.value(function.result,
                                      type.rank == 0 ? Component{}
                                                     : Component{k, {}}))));
        for (std::int64_t k = 0; k < size_; ++k)
            scene.writer.set(left({k, {}}), next[std::size_t(k)]);
    }

    std::int64_t size_;
};

} // namespace

std::unique_ptr<Monoid> make_fold(const Registers& registers,
                                  const LoweredReduction& reduction) {
    return std::make_unique<UserDefined>(registers, reduction);
}

} // namespace tilefold::cuda
