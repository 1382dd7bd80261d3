// What is said when the words of the command are wrong.
#pragma once

#include "core/base/error.h"

#include <string>

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace ulpscope::cli {

// The exit codes that a command can give and what each means there, for its help; of no command: the contract of all.
std::string exitCodesText(const std::string& command = "");

// Error kind usage: the word that is not known with the nearest that is, or the parser's own complaint.
base::Error usageError(CLI::App& app, const CLI::ParseError& fault);

// A word before any command's that is none ("ulpscope report --help"): error kind usage, success else.
base::Status checkCommandNames(CLI::App& app);

// An option given as '' would silently mean its default: error kind usage. Lists look at their values themselves.
base::Status checkEmptyValues(const CLI::App& app);

}  // namespace ulpscope::cli
