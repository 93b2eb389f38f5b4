#include "cortex_m/runtime/program_json.h"

#include <gtest/gtest.h>

#include <string>

#include "cortex_m/runtime/loaded_method.h"
#include "cortex_m/runtime/testing/samples.h"

namespace cortex_m {
namespace {

std::string Json(const std::string& file) {
  const AlignedBytes bytes(file);
  Program program;
  const Status status = Program::Load(bytes.bytes(), program);
  EXPECT_TRUE(status.ok()) << ToSentence(status);
  return ProgramJson(program);
}

void ExpectHas(const std::string& json, const std::string& part) {
  EXPECT_NE(json.find(part), std::string::npos) << part << "\n in " << json;
}

TEST(ProgramJson, TellsWhatARunnerNeeds) {
  AddSample sample;
  sample.maker.Operator("test::unused", "out");
  auto frame = std::make_unique<fbs::FrameT>();
  frame->filename = "model.py";
  frame->lineno = 12;
  auto frames = std::make_unique<fbs::FrameListT>();
  frames->items.push_back(std::move(frame));
  sample.maker.plan().chains[0]->stacktrace.push_back(std::move(frames));
  const std::string file = sample.maker.File();
  const std::string json = Json(file);
  ExpectHas(json, "{\"file_bytes\": " + std::to_string(file.size()) + ", ");
  ExpectHas(json, "\"segment_bytes\": 24, \"constant_bytes\": 24");
  ExpectHas(json, "\"target\": null");  // it has no seal
  ExpectHas(json, "\"name\": \"forward\"");
  ExpectHas(json,
            "\"sizes\": {\"operators\": 2, \"slots\": 0, \"arguments\": 3, \"integers\": 0, \"tensors\": 0, "
            "\"tensor_pointers\": 0}");
  ExpectHas(json, "\"planned_bytes\": [256], \"state_bytes\": 0");
  ExpectHas(json, "\"operators\": [\"test::add.out\"]");  // the one that nothing calls is not asked for
  ExpectHas(json,
            "\"instructions\": [{\"index\": 0, \"kind\": \"kernel\", \"operator\": \"test::add.out\", "
            "\"source\": \"model.py:12\"}, {\"index\": 1, \"kind\": \"kernel\", \"operator\": \"test::add.out\"}]");
  ExpectHas(json,
            "\"inputs\": [{\"value\": 0, \"type\": \"tensor\", \"dtype\": \"float\", \"sizes\": [2, 3], "
            "\"dim_order\": [0, 1], \"nbytes\": 24, \"memory_id\": 1, \"offset\": 0}]");
  ExpectHas(json, "\"outputs\": [{\"value\": 3, ");
  ExpectHas(json, "\"memory_id\": 1, \"offset\": 64}]");
}

TEST(ProgramJson, TellsNumbersAndControlFlow) {
  const std::string json = Json(LoopSample().maker.File());
  ExpectHas(json, "{\"value\": 1, \"type\": \"int\"}");
  for (const char* kind : {"move", "kernel", "jump_false", "free"})
    ExpectHas(json, "\"kind\": \"" + std::string(kind) + "\"");
  ExpectHas(json, "\"slots\": 3");
  const std::string every = Json(EveryKindSample().maker.File());
  ExpectHas(every, "{\"value\": 6, \"type\": \"bool\"}");
  ExpectHas(every, "\"state_bytes\": 4");
  ExpectHas(every, "\"dtype\": \"int8\", \"sizes\": [2, 2], \"dim_order\": [0, 1], \"nbytes\": 4, \"memory_id\": 0");
  // Two lists of two ints in one call; two and four tensors in another.
  ExpectHas(every, "\"arguments\": 16, \"integers\": 4, \"tensors\": 6, \"tensor_pointers\": 4");
}

TEST(ProgramJson, EscapesNames) {
  AddSample sample;
  sample.maker.plan().name = "for\"ward\\\n\x80";
  ExpectHas(Json(sample.maker.File()), "\"name\": \"for\\\"ward\\\\\\u000a\\u0080\"");
}

TEST(ToSentence, SaysThePlace) {
  EXPECT_EQ(ToSentence(Status(Code::kInternal, "it broke")), "it broke");
  EXPECT_EQ(ToSentence(Status(Code::kInternal, "it broke", "value", 7)), "it broke (value 7)");
  EXPECT_EQ(ToSentence(Status(Code::kInternal, "it broke", "value", 7).OfArgument(2)),
            "it broke (value 7, argument 2)");
  EXPECT_EQ(ToSentence(Status(Code::kInternal, "it broke").OfArgument(0)), "it broke (argument 0)");
}

}  // namespace
}  // namespace cortex_m
