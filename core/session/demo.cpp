#include "core/session/demo.h"

#include "core/base/nearest_names.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace ulpscope::session {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::ErrorKind;
using base::Result;
using nlohmann::json;

Error damaged(const std::string& file, const std::string& fault) {
  return Error{ErrorKind::input, fault, file, "reinstall Ulpscope, or correct the file"};
}

// The defaults with the demo's own keys laid over them; a key that RunSettings does not have is a slip, not a wish.
Result<RunSettings> settingsOver(const json& changes) {
  json settings = toJson(RunSettings{});
  for (const auto& [key, value] : changes.items()) {
    if (!settings.contains(key)) return Error{ErrorKind::input, "is no setting of a run", "settings." + key, ""};
    settings[key] = value;
  }
  return settingsFromJson(settings);
}

Result<Demo> demoFrom(const json& j, const fs::path& folder) {
  Demo demo;
  demo.name = folder.filename().string();
  demo.title = j.at("title");
  demo.description = j.at("description");
  demo.shows = j.value("shows", std::string());
  demo.like = j.value("like", std::string());
  demo.cure = j.value("cure", std::vector<std::string>());
  auto settings = settingsOver(j.value("settings", json::object()));
  if (!settings) return settings.error();
  demo.request.settings = std::move(settings).value();
  demo.request.modelPath = fs::absolute(folder / j.at("model").get<std::string>()).lexically_normal().string();
  demo.request.inputsPath = fs::absolute(folder / j.at("inputs").get<std::string>()).lexically_normal().string();
  for (const std::string& path : {demo.request.modelPath, demo.request.inputsPath}) {
    std::error_code ignored;
    if (!fs::is_regular_file(path, ignored)) return Error{ErrorKind::input, "the file is missing", path, ""};
  }
  return demo;
}

Result<Demo> readDemo(const fs::path& folder) try {
  const std::string file = (folder / "demo.json").string();
  std::ifstream stream(file);
  if (!stream) return damaged(file, "cannot be read");
  const json j = json::parse(stream, nullptr, false);
  if (!j.is_object()) return damaged(file, "is no JSON object");
  auto demo = demoFrom(j, folder);
  if (!demo) return damaged(file, demo.error().message());
  return demo;
} catch (const json::exception& e) {
  return damaged((folder / "demo.json").string(), e.what());
}

}  // namespace

Result<std::vector<Demo>> listDemos(const std::string& demoFolder) {
  std::error_code failed;
  std::vector<fs::path> folders;
  for (fs::directory_iterator entry(demoFolder, failed), end; !failed && entry != end; entry.increment(failed)) {
    std::error_code ignored;
    if (fs::exists(entry->path() / "demo.json", ignored)) folders.push_back(entry->path());
  }
  if (failed) return damaged(demoFolder, "cannot be read: " + failed.message());
  std::sort(folders.begin(), folders.end());
  std::vector<Demo> demos;
  for (const fs::path& folder : folders) {
    auto demo = readDemo(folder);
    if (!demo) return demo.error();
    demos.push_back(std::move(demo).value());
  }
  return demos;
}

Result<Demo> findDemo(const std::string& demoFolder, const std::string& name) {
  auto demos = listDemos(demoFolder);
  if (!demos) return demos.error();
  std::vector<std::string> names;
  for (Demo& demo : demos.value()) {
    if (demo.name == name) return std::move(demo);
    names.push_back(demo.name);
  }
  const std::string choice = names.empty() ? "there are none" : "use " + base::quotedChoice(names);
  return Error{ErrorKind::usage, "there is no demo of this name", name, choice};
}

std::string freeSessionPath(const std::string& folder, const std::string& stem) {
  // A left-over data folder without its master must not be mixed into a new session either.
  const auto taken = [](const fs::path& path) {
    std::error_code ignored;
    return fs::exists(fs::symlink_status(path, ignored)) || fs::exists(fs::path(path.string() + ".d"), ignored);
  };
  fs::path path = fs::path(folder) / (stem + ".ulps");
  for (int n = 2; taken(path); ++n) path = fs::path(folder) / (stem + "-" + std::to_string(n) + ".ulps");
  return path.string();
}

}  // namespace ulpscope::session
