// compiler/backends/cuda/image/explain.h - what a graph becomes on a GPU, as
// text.
#pragma once

#include "compiler/backends/cuda/image/image.h"
#include "compiler/ir/explain_section.h"

#include <optional>
#include <string>
#include <vector>

namespace tilefold::cuda {

/// Explains the plan, the lowered kernel, the CUDA C++, what each kernel takes
/// of a multiprocessor, and the share of an H200's limit that the model
/// expects. `few` is the plan of calls of few rows, which is told beside it.
std::vector<ExplainSection> explain(const ir::Graph& graph, const Plan& plan,
                                    const std::optional<Plan>& few,
                                    const Image& image);
/// Explains as much as it can where nothing could be compiled, for the reason
/// `why`.
std::vector<ExplainSection> explain(const ir::Graph& graph, const Plan& plan,
                                    const std::optional<Plan>& few,
                                    const std::string& why);

} // namespace tilefold::cuda
