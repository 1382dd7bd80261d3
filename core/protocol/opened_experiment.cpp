#include "core/protocol/opened_experiment.h"

#include <nlohmann/json.hpp>

namespace ulpscope::protocol {

using nlohmann::json;

json toJson(const OpenedExperiment& opened) {
  json inputs = json::array();
  for (const OpenedInput& input : opened.inputs)
    inputs.push_back({{"name", input.name}, {"dtype", input.dtype}, {"shape", input.shape}, {"sample_axis", input.sampleAxis}});
  return {{"model", model::toJson(opened.model)}, {"inputs", inputs}, {"sample_ids", opened.sampleIds}, {"sample_kinds", opened.kinds},
          {"labels", opened.labels}, {"targets", opened.targets}, {"class_names", opened.classNames},
          {"preprocessing", opened.preprocessing}, {"expected", opened.expected}};
}

base::Result<OpenedExperiment> openedFromJson(const json& j) try {
  auto info = model::modelInfoFromJson(j.at("model"));
  if (!info) return info.error();
  OpenedExperiment opened;
  opened.model = std::move(info).value();
  for (const json& input : j.at("inputs")) opened.inputs.push_back({input.at("name"), input.at("dtype"), input.at("shape").get<std::vector<std::int64_t>>(), input.at("sample_axis")});
  opened.sampleIds = j.at("sample_ids").get<std::vector<std::string>>();
  opened.kinds = j.at("sample_kinds").get<std::map<std::string, std::int64_t>>();
  opened.labels = j.at("labels");
  opened.targets = j.at("targets");
  opened.classNames = j.at("class_names");
  opened.preprocessing = j.at("preprocessing");
  opened.expected = j.at("expected").get<std::vector<std::string>>();
  return opened;
} catch (const json::exception& e) {
  return base::Error{base::ErrorKind::internal, std::string("is malformed: ") + e.what(), "the answer to open", ""};
}

}  // namespace ulpscope::protocol
