// What is said when the words of the command are wrong.
#pragma once

#include "core/base/error.h"

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace ulpscope::cli {

// Error kind usage: the word that is not known with the nearest that is, or the parser's own complaint.
base::Error usageError(CLI::App& app, const CLI::ParseError& fault);

// A word before any command's that is none ("ulpscope report --help"): error kind usage, success else.
base::Status checkCommandNames(CLI::App& app);

// An option given as '' would silently mean its default: error kind usage. Lists look at their values themselves.
base::Status checkEmptyValues(const CLI::App& app);

}  // namespace ulpscope::cli
