// Which of forward's arguments inputs are that nobody named.
#pragma once

#include "core/model/model_info.h"

#include <cstddef>
#include <string>
#include <vector>

namespace ulpscope::model {

// forward's tensors (no lists of them) in its order. `labels` is not among them where the labels of the set are given, since those go there.
std::vector<std::string> positionalArguments(const std::vector<Argument>& arguments, bool labelsAreGiven);

// The argument that the input `name` at `place` of its file is: the one of that name, or, of inputs that nobody named, the one at that place.
std::string argumentOf(const std::string& name, std::size_t place, const std::vector<std::string>& positional);

}  // namespace ulpscope::model
