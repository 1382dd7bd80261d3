#include "commands.h"
#include "core/base/number_text.h"
#include "core/base/size_text.h"
#include "core/storage/session_pack.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <memory>

namespace ulpscope::cli {
namespace {

using storage::PackSummary;

struct PackWords {
  std::string source, target;
  bool noTensors = false;
};

void print(const char* done, const PackSummary& summary) {
  fmt::print("{} {}\n", done, summary.path);
  fmt::print("session '{}': {}, {}, {}\n", summary.sessionTitle, base::counted(summary.runs, "run"), base::counted(summary.files, "file"),
             base::sizeText(summary.sizeBytes));
  for (const std::string& note : summary.notes) fmt::print("note: {}\n", note);
}

Outcome packAction(const PackWords& words) {
  const auto packed = storage::packSession(words.source, words.target, words.noTensors ? storage::Tensors::leftOut : storage::Tensors::included);
  if (!packed) return packed.error();
  print("packed", packed.value());
  return 0;
}

Outcome unpackAction(const PackWords& words) {
  const auto unpacked = storage::unpackSession(words.source, words.target);
  if (!unpacked) return unpacked.error();
  print("unpacked", unpacked.value());
  return 0;
}

constexpr const char* kPackHelp =
    "Makes one file of a session, to mail: a ZIP archive of its files, with checksums. Checkpoints of trainings stay behind.\n\n"
    "Examples:\n"
    "  ulpscope pack model-fp16.ulps                      writes model-fp16.ulps.zip\n"
    "  ulpscope pack model-fp16.ulps -o for-anna.zip --no-tensors\n";

constexpr const char* kUnpackHelp =
    "Makes a session of a packed one again, bit for bit. Overwrites nothing.\n\n"
    "Examples:\n"
    "  ulpscope unpack model-fp16.ulps.zip                writes model-fp16.ulps and model-fp16.ulps.d here\n"
    "  ulpscope unpack for-anna.zip -o anna.ulps\n";

}  // namespace

void addPack(CLI::App& app, Invocation& invocation) {
  CLI::App* command = app.add_subcommand("pack", kPackHelp);
  auto words = std::make_shared<PackWords>();
  command->add_option("SESSION", words->source, "the session (.ulps)")->required();
  command->add_option("-o,--out", words->target, "the archive to write (default SESSION.zip)")->type_name("FILE");
  command->add_flag("--no-tensors", words->noTensors, "leave the captured tensors out");
  command->callback([words, &invocation] { invocation.action = [words] { return packAction(*words); }; });
}

void addUnpack(CLI::App& app, Invocation& invocation) {
  CLI::App* command = app.add_subcommand("unpack", kUnpackHelp);
  auto words = std::make_shared<PackWords>();
  command->add_option("FILE", words->source, "what `ulpscope pack` wrote")->required();
  command->add_option("-o,--out", words->target, "the session to write (default: its own name, here)")->type_name("SESSION");
  command->callback([words, &invocation] { invocation.action = [words] { return unpackAction(*words); }; });
}

}  // namespace ulpscope::cli
