#include "core/report/run_document.h"

#include "sample_run.h"
#include "schema_validator.h"

#include <gmock/gmock.h>

#include <fstream>

namespace ulpscope::report {
namespace {

using nlohmann::json;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

json schema() {
  std::ifstream stream(ULPSCOPE_SCHEMA);
  return json::parse(stream);
}

json sampleDocument() {
  const session::Session session = test::sampleSession();
  return runDocument(session, session.runs.front(), "ffn-fp16.ulps");
}

std::vector<std::string> keys(const json& object) {
  std::vector<std::string> names;
  for (const auto& [key, ignored] : object.items()) names.push_back(key);
  return names;
}

TEST(RunDocument, IsValidAgainstTheSchema) {
  EXPECT_THAT(test::schemaFaults(schema(), sampleDocument()), IsEmpty());
}

TEST(RunDocument, OfAnEmptyRunIsValidToo) {
  const session::Session session;
  EXPECT_THAT(test::schemaFaults(schema(), runDocument(session, session::RunRecord{}, "x.ulps")), IsEmpty());
}

TEST(RunDocument, ErrorDocumentsOfEveryKindAreValid) {
  using Kind = base::ErrorKind;
  for (const Kind kind : {Kind::usage, Kind::input, Kind::run, Kind::inconclusive, Kind::cancelled, Kind::internal}) {
    const json document = errorDocument({kind, "what", "which", "do"});
    EXPECT_THAT(test::schemaFaults(schema(), document), IsEmpty());
    EXPECT_EQ(document["status"], kind == Kind::cancelled ? "cancelled" : "error");
    EXPECT_EQ(document["error"], (json{{"code", base::name(kind)}, {"what", "what"}, {"which", "which"}, {"do", "do"}}));
  }
}

TEST(RunDocument, TheValidatorSeesAWrongDocument) {
  json document = sampleDocument();
  document["flips"][0]["kind"] = "perhaps";
  document["sites"][0].erase("rel_l2");
  document["run_id"] = 7;
  EXPECT_EQ(test::schemaFaults(schema(), document).size(), 3U);
}

TEST(RunDocument, HasTheKeysThatStand) {
  EXPECT_THAT(keys(sampleDocument()),
              UnorderedElementsAre("schema", "status", "error", "session", "run_id", "exploratory", "candidates_tried",
                                   "warnings", "engine", "model", "policy", "probe_check", "outputs", "first_nonfinite",
                                   "nonfinite_origins", "reference_nonfinite", "candidate_error", "control_flow",
                                   "unresolved_calls", "flips", "no_decision", "nonfinite_samples", "only_samples", "sites", "module_outputs",
                                   "noise_floor", "accumulation", "capture", "verdict", "decision", "first_nan", "first_inf"));
  EXPECT_THAT(keys(sampleDocument()["first_nonfinite"]),
              UnorderedElementsAre("stage", "op", "overload", "module", "source", "occurrence", "sample_ids", "whole_batch",
                                   "values", "counts", "cause", "root_cause", "operands", "reference", "diagnosis", "explained_by"));
  EXPECT_THAT(keys(sampleDocument()["flips"][0]),
              UnorderedElementsAre("sample_id", "reference", "candidate", "reference_margin", "candidate_margin", "kind",
                                   "effect", "positions", "reference_top", "candidate_top", "first_site_over_tolerance",
                                   "within_noise_floor"));
  EXPECT_THAT(keys(sampleDocument()["sites"][0]),
              UnorderedElementsAre("module", "op", "overload", "source", "occurrence", "output", "dtype", "reference_dtype", "policy", "shape",
                                   "sample_axis", "view_of", "elements", "elements_over_tolerance", "differing_elements", "nonfinite",
                                   "candidate_nonfinite", "reference_nonfinite", "role", "noise_floor_rel_l2", "reference_error_to_fp64",
                                   "candidate_error_to_fp64", "rel_l2", "max_abs", "mean_abs", "max_rel", "cosine_distance", "sqnr_db", "max_ulp",
                                   "share_over_tolerance", "introduced_rel_l2", "inherited_rel_l2", "reference_min", "reference_max",
                                   "reference_max_abs", "reference_smallest", "candidate_min", "candidate_max", "candidate_max_abs",
                                   "candidate_smallest", "headroom_bits", "share_subnormal_reference", "share_subnormal_candidate", "share_flushed",
                                   "operands", "operand_count"));
  EXPECT_THAT(keys(sampleDocument()["outputs"][0]),
              UnorderedElementsAre("name", "shape", "sample_axis", "dtype", "max_abs", "max_rel", "rel_l2", "cosine_distance", "max_ulp",
                                   "elements", "differing_elements", "nonfinite"));
}

TEST(RunDocument, SaysWhatAnOpSiteWasGivenAndWhereItCameFrom) {
  const json sites = sampleDocument()["sites"];
  const auto operand = [](const char* name, const json& dtype, const json& castTo, const json& from) {
    return json{{"name", name}, {"dtype", dtype}, {"reference_dtype", "float32"}, {"cast_to", castTo}, {"from", from}};
  };
  EXPECT_EQ(sites[1]["operands"], (json{operand("input", "float16", nullptr, {{"site", 0}}), operand("weight", "float32", "float16", {{"parameter", "encoder.0.ffn.wo.weight"}}),
                                        operand("bias", nullptr, nullptr, nullptr)}));
  EXPECT_EQ(sites[1]["operand_count"], 3);
  EXPECT_EQ(sites[0]["operands"][0]["from"], (json{{"input", "x"}}));
  EXPECT_EQ(sites[2]["operands"], nullptr) << "not recorded";
  EXPECT_EQ(sites[2]["operand_count"], nullptr);
}

TEST(RunDocument, AnErrorDocumentHasTheSameKeysAsARun) {
  EXPECT_EQ(keys(errorDocument({})), keys(sampleDocument()));
}

TEST(RunDocument, NamesTheRunAndHowManyWereTried) {
  const session::Session session = test::curedSession();
  const json document = runDocument(session, session.runs.back(), "ffn-fp16.ulps");
  EXPECT_EQ(document["run_id"], "run_0002");
  EXPECT_EQ(document["candidates_tried"], 2);
  EXPECT_EQ(document["exploratory"], true);
  EXPECT_EQ(document["verdict"], nullptr);
  EXPECT_EQ(document["policy"], (json{{"autocast", "fp16"}, {"fp32", {"encoder.0.ffn.wo"}}, {"disable", json::array()}}));
  EXPECT_EQ(document["first_nonfinite"], nullptr);
}

TEST(RunDocument, NonFiniteNumbersAreStringsAndNotEvaluatedIsNull) {
  const json document = sampleDocument();
  EXPECT_EQ(document["sites"][1]["rel_l2"], "+inf");
  EXPECT_EQ(document["sites"][2]["rel_l2"], nullptr);
  EXPECT_EQ(document["sites"][2]["max_abs"], nullptr);
  EXPECT_EQ(document["sites"][2]["nonfinite"], (json{{"NaN", 4}, {"+inf", 0}, {"-inf", 0}}));
  EXPECT_EQ(document["flips"][0]["candidate_margin"], "+inf");
  EXPECT_EQ(document["flips"][0]["candidate_top"][0]["score"], "+inf");
  EXPECT_EQ(document["outputs"][0]["max_rel"], "+inf");
  EXPECT_EQ(document["outputs"][0]["max_ulp"], nullptr);
  EXPECT_EQ(document["first_nonfinite"]["values"], (json{"+inf", "-inf"}));
}

TEST(RunDocument, CarriesWhatDiffersWhereThereIsNoDistance) {
  session::Session session = test::sampleSession();
  session.runs[0].sites[0].candidateDtype = base::DType::int64;
  session.runs[0].sites[0].differingElements = 4;
  const json document = runDocument(session, session.runs.front(), "ffn-fp16.ulps");
  EXPECT_EQ(document["sites"][0]["differing_elements"], 4);
  EXPECT_EQ(document["outputs"][0]["elements"], 2560);
  EXPECT_EQ(document["outputs"][0]["differing_elements"], 1800);
  EXPECT_EQ(document["outputs"][0]["nonfinite"], (json{{"NaN", 20}, {"+inf", 0}, {"-inf", 0}}));
  EXPECT_EQ(document["sites"][3]["introduced_rel_l2"], 0.0005);
  EXPECT_EQ(document["sites"][1]["introduced_rel_l2"], nullptr);
}

TEST(RunDocument, AViewHasNoMetricsOfItsOwn) {
  EXPECT_EQ(sampleDocument()["sites"][4]["max_abs"], nullptr);
  EXPECT_EQ(sampleDocument()["sites"][4]["rel_l2"], nullptr);
}

TEST(RunDocument, AFlipNamesItsFirstSiteByWordsAndNotByIndex) {
  const json document = sampleDocument();
  EXPECT_EQ(document["flips"][0]["first_site_over_tolerance"],
            (json{{"module", "head"}, {"op", "aten::linear"}, {"occurrence", 2}}));
  EXPECT_EQ(document["flips"][1]["first_site_over_tolerance"], nullptr);
}

}  // namespace
}  // namespace ulpscope::report
