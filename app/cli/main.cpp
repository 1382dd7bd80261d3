// ulpscope: the command line. Parses, calls the command, prints the one error line, gives the exit code.
#include "commands.h"
#include "core/protocol/message.h"
#include "core/report/benchmark_text.h"
#include "core/report/run_comparison.h"
#include "core/report/run_document.h"
#include "core/session/scan.h"
#include "core/storage/session_store.h"
#include "json_output.h"
#include "usage.h"

#include <CLI/CLI.hpp>
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <memory>
#include <sstream>
#include <string_view>
#include <system_error>

namespace ulpscope::cli {
namespace {

constexpr const char* kHelp =
    "Ulpscope runs a PyTorch model twice on the same inputs, in FP32 and under autocast, and shows where the two part.\n\n"
    "Examples:\n"
    "  ulpscope demo                                            a built-in experiment, run for real\n"
    "  ulpscope snippet > export.py                             Python lines that export your model and inputs\n"
    "  ulpscope inspect model.ts                                what autocast does to each op\n"
    "  ulpscope run model.ts --inputs inputs.h5 --decision argmax   FP32 against FP16\n"
    "  ulpscope gui model-fp16.ulps                             the session in the window\n";

void printVersion(bool asJson) {
  if (!asJson) {
    std::puts("ulpscope " ULPSCOPE_VERSION);
    return;
  }
  const nlohmann::json versions = {{"ulpscope", ULPSCOPE_VERSION},
                                   {"protocol", protocol::kVersion},
                                   {"hdf5", storage::hdf5Version()},
                                   {"built_with", {{"libtorch", ULPSCOPE_BUILT_WITH_TORCH}, {"qt", ULPSCOPE_BUILT_WITH_QT}}}};
  std::puts(versions.dump(2).c_str());
}

// A command's help leads with examples; the list of commands shows the first line only.
class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_subcommand(const CLI::App* command) const override {
    const std::string help = command->get_description();
    std::stringstream out;
    CLI::detail::format_help(out, "  " + command->get_name(), help.substr(0, help.find('\n')), 12);
    return out.str();
  }
};

// `--version --json` has no file after --json, unlike everywhere else: it is looked at before the parser.
bool askedForVersion(int argc, const char* const* argv, bool& asJson) {
  const std::string_view first = argc > 1 ? argv[1] : "", second = argc > 2 ? argv[2] : "";
  asJson = (first == "--version" && second == "--json") || (first == "--json" && second == "--version");
  return asJson || (first == "--version" && argc == 2);
}

// Each command's document has its own keys.
nlohmann::json documentOf(const base::Error& error, std::string_view command) {
  if (command == "inspect") return inspectErrorDocument(error);
  if (command == "scan") return session::scanErrorDocument(error);
  if (command == "bench") return report::benchmarkErrorDocument(error);
  return command == "compare" ? report::comparisonErrorDocument(error) : report::errorDocument(error);
}

int fail(const base::Error& error, const std::string& jsonTarget, std::string_view command) {
  std::fflush(stdout);
  std::fprintf(stderr, "ulpscope: %s\n", error.message().c_str());
  const auto written = writeJson(jsonTarget, documentOf(error, command));
  if (!written && written.error().message() != error.message()) std::fprintf(stderr, "ulpscope: %s\n", written.error().message().c_str());
  return base::exitCode(error.kind);
}

// A closed standard descriptor would be given to the next file or pipe, and what we print would go into that. Standard
// output is opened for reading only: writing to it still fails, as it does on a closed one.
void openStandardDescriptors() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(descriptor, F_GETFD) < 0) static_cast<void>(::open("/dev/null", descriptor == STDOUT_FILENO ? O_RDONLY : O_RDWR));
}

// A help or a summary is written in one piece, by the flush at the end, which can still name what hinders it.
void bufferOutput() {
  static char buffer[1 << 16];
  if (::isatty(STDOUT_FILENO) == 0) static_cast<void>(std::setvbuf(stdout, buffer, _IOFBF, sizeof buffer));
}

// A reader that has seen enough (`| head`) is no fault; a full disk is.
int withOutputChecked(int code) {
  const bool flushed = std::fflush(stdout) == 0;
  if (flushed ? !std::ferror(stdout) : errno == EPIPE) return code;
  std::fprintf(stderr, "ulpscope: standard output: cannot be written: %s\n", flushed ? "a part is lost" : std::strerror(errno));
  return code != 0 ? code : base::exitCode(base::ErrorKind::run);
}

// Neither a file is harmed nor an option misread before the work starts.
base::Status checkWords(const CLI::App& app, const JsonTarget& json) {
  if (!json.allowed) return json.allowed;
  return checkEmptyValues(app);
}

int parseAndRun(int argc, const char* const* argv) {
  CLI::App app(kHelp, "ulpscope");
  Invocation invocation;
  app.footer(exitCodesText());
  app.set_version_flag("--version", "ulpscope " ULPSCOPE_VERSION);
  app.formatter(std::make_shared<HelpFormatter>());
  app.get_formatter()->column_width(34);
  for (const auto add : {addInspect, addRun, addScan, addTrain, addBench, addCheck, addCompare, addCriteria, addReport, addDemo, addPack, addUnpack, addRepair, addDoctor, addSnippet, addWorker, addGui}) add(app, invocation);
  for (CLI::App* command : app.get_subcommands({})) command->footer(exitCodesText(command->get_name()));
  const JsonTarget json = jsonTargetOf(argc, argv);
  const std::string_view command = argc > 1 ? argv[1] : "";
  const auto failed = [&](const base::Error& error) { return fail(error, json.allowedPath(), command); };
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& request) {  // --help, --version
    if (const auto named = checkCommandNames(app); !named) return failed(named.error());
    return app.exit(request);
  } catch (const CLI::ParseError& fault) {
    return failed(usageError(app, fault));
  }
  if (!invocation.action) {
    std::fputs(app.help().c_str(), stdout);
    return 0;
  }
  if (const auto good = checkWords(app, json); !good) return failed(good.error());
  const Outcome outcome = invocation.action();
  return outcome ? outcome.value() : failed(outcome.error());
}

int start(int argc, const char* const* argv) {
  openStandardDescriptors();
  bufferOutput();
  bool asJson = false;
  if (!askedForVersion(argc, argv, asJson)) return parseAndRun(argc, argv);
  printVersion(asJson);
  return 0;
}

}  // namespace
}  // namespace ulpscope::cli

int main(int argc, char** argv) try {
  return ulpscope::cli::withOutputChecked(ulpscope::cli::start(argc, argv));
} catch (const std::filesystem::filesystem_error& e) {
  std::fprintf(stderr, "ulpscope: internal error: %s\n", e.what());
  return ulpscope::base::exitCode(ulpscope::base::ErrorKind::internal);
} catch (const std::ios_base::failure& e) {  // a std::system_error too, but of a file that was read
  std::fprintf(stderr, "ulpscope: internal error: %s\n", e.what());
  return ulpscope::base::exitCode(ulpscope::base::ErrorKind::internal);
} catch (const std::system_error& fault) {  // of fmt::print: more than a buffer, and nobody takes it
  if (fault.code().value() == EPIPE) return 0;
  std::fprintf(stderr, "ulpscope: standard output: cannot be written: %s\n", std::strerror(fault.code().value()));
  return ulpscope::base::exitCode(ulpscope::base::ErrorKind::run);
} catch (const std::exception& e) {
  std::fprintf(stderr, "ulpscope: internal error: %s\n", e.what());
  return ulpscope::base::exitCode(ulpscope::base::ErrorKind::internal);
}
