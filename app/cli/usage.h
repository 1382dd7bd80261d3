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

}  // namespace ulpscope::cli
