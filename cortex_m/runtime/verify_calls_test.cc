// Which arguments of one call may share memory; records are those of real operators, no kernel runs.
#include "cortex_m/runtime/verify_calls.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "cortex_m/runtime/program_file.h"
#include "cortex_m/runtime/testing/program_maker.h"

namespace cortex_m {
namespace {

constexpr const char* kOver = "a call writes this argument over another one, which its operator cannot do";
constexpr const char* kReturns = "a call returns something else than what its operator writes";
constexpr const char* kToConstant = "a call writes to a constant";

// A [16] int8 tensor at each multiple of 16: values 0 to 7.
struct Sample {
  ProgramMaker maker{256};
  std::vector<int> at;
  Sample() {
    for (uint32_t i = 0; i < 8; ++i) at.push_back(maker.Planned(ScalarType::kChar, {16}, 16 * i));
  }
  int Tensor(const std::vector<int32_t>& sizes, uint32_t offset, ScalarType dtype = ScalarType::kChar) {
    return maker.Planned(dtype, sizes, offset);
  }
  void Call(const char* name, const char* overload, const std::vector<int32_t>& args) {
    maker.Call(maker.Operator(name, overload), args);
  }
};

// What is refused is told with instruction `instruction` and argument `argument`; an empty `message`: accepted.
void Expect(Sample& sample, const std::string& message, int argument = -1, int instruction = 0) {
  const AlignedBytes bytes(sample.maker.File());
  Program program;
  const Status status = Program::Load(bytes.bytes(), program);
  EXPECT_EQ(status.message(), message);
  if (status.ok()) return;
  EXPECT_EQ(status.code(), Code::kInvalidProgram);
  EXPECT_STREQ(status.subject(), "instruction");
  EXPECT_EQ(status.index(), instruction);
  EXPECT_EQ(status.argument(), argument);
}

TEST(VerifyCalls, AResultLiesOnNoArgument) {
  for (const uint32_t offset : {64u, 80u, 96u}) {  // it begins before, at and behind the result's begin
    Sample s;
    const int input = s.Tensor({32}, offset);
    const int out = s.Tensor({17}, 80);  // one byte of the next 16
    s.Call("aten::any", "op_out", {s.at[0], input, out, out});
    Expect(s, kOver, 2);
  }
  for (const uint32_t offset : {48u, 112u}) {
    Sample s;
    const int out = s.Tensor({17}, 80);
    s.Call("aten::any", "op_out", {s.Tensor({32}, offset), out, out});
    Expect(s, "");
  }
}

TEST(VerifyCalls, NorOnItself) {
  Sample s;
  s.Call("aten::any", "op_out", {s.at[0], s.at[1]});
  Expect(s, "");
  s.Call("aten::any", "op_out", {s.at[0], s.at[1], s.at[1], s.at[1]});
  Expect(s, kOver, 2, 1);
}

TEST(VerifyCalls, AnotherMemoryIsElsewhere) {
  Sample s;
  s.maker.plan().non_const_buffer_sizes.push_back(64);
  const int other = s.maker.Planned(ScalarType::kChar, {16}, 0, 2);
  s.Call("aten::any", "op_out", {s.at[0], other, other});
  Expect(s, "");
}

TEST(VerifyCalls, NothingHasNoPlace) {
  Sample s;
  const int none = s.Tensor({0, 7}, 0);
  s.Call("aten::any", "op_out", {s.at[0], none, none});
  s.Call("aten::any", "op_out", {none, s.at[0], s.at[0]});
  Expect(s, "");
}

TEST(VerifyCalls, TheCallersMemoryIsOneForEachValue) {
  Sample s;
  const int x = s.maker.Unplanned(ScalarType::kChar, {4});
  const int y = s.maker.Unplanned(ScalarType::kChar, {4});
  s.maker.plan().inputs = {x, y};
  s.Call("aten::any", "op_out", {x, y, y});
  Expect(s, "");
  s.Call("aten::any", "op_out", {x, s.at[0], x, x});
  Expect(s, kOver, 2, 1);
}

// cortex_m::minimum.out(self, other, out) may work in place on both.
TEST(VerifyCalls, InPlaceIsOnExactlyTheSameElements) {
  Sample s;
  for (const int out : {0, 1}) s.Call("cortex_m::minimum", "out", {s.at[0], s.at[1], s.at[out], s.at[out]});
  const int same = s.Tensor({16}, 0);
  s.Call("cortex_m::minimum", "out", {s.at[0], same, s.at[0], s.at[0]});
  Expect(s, "");
  const auto refused = [](const std::function<int(Sample&)>& result) {
    Sample t;
    const int out = result(t);
    t.Call("cortex_m::minimum", "out", {t.at[0], t.at[1], out, out});
    Expect(t, kOver, 2);
  };
  refused([](Sample& t) { return t.Tensor({4, 4}, 0); });
  refused([](Sample& t) { return t.Tensor({15}, 0); });
  refused([](Sample& t) { return t.Tensor({32}, 0); });
  refused([](Sample& t) { return t.Tensor({17}, 16); });  // the same begin as other
  refused([](Sample& t) { return t.Tensor({16}, 0, ScalarType::kByte); });
  // Of the same sizes, in another order of memory.
  Sample t;
  const int self = t.Tensor({4, 4}, 0);
  const int out = t.Tensor({4, 4}, 0);
  t.maker.tensor(out).dim_order = {1, 0};
  t.Call("cortex_m::minimum", "out", {self, t.at[1], out, out});
  Expect(t, kOver, 2);
}

TEST(VerifyCalls, InPlaceIsOnTheRecordsArgumentsAlone) {
  Sample s;
  s.Call("cortex_m::quantized_activation", "out", {s.at[0], s.at[1], s.at[0], s.at[0]});
  Expect(s, "");
  s.Call("cortex_m::quantized_activation", "out", {s.at[0], s.at[1], s.at[1], s.at[1]});
  Expect(s, kOver, 2, 1);
}

// cortex_m::quantized_batch_matmul.out(lhs, int, rhs, int, int, int, int, scratch, out).
TEST(VerifyCalls, ScratchIsWrittenToo) {
  for (const int scratch : {3, 0, 1, 2}) {
    Sample s;
    const int n = s.maker.Int(0);
    s.Call("cortex_m::quantized_batch_matmul", "out",
           {s.at[0], n, s.at[1], n, n, n, n, s.at[static_cast<size_t>(scratch)], s.at[2], s.at[2]});
    Expect(s, scratch == 3 ? "" : kOver, 7);
  }
  Sample s;
  const int n = s.maker.Int(0);
  const int constant = s.maker.Constant(ScalarType::kChar, {16}, std::string(16, '\0'));
  s.Call("cortex_m::quantized_batch_matmul", "out", {s.at[0], n, s.at[1], n, n, n, n, constant, s.at[2], s.at[2]});
  Expect(s, kToConstant, 7);
}

// aten::max.dim_max(self, dim, keepdim, max, max_values) returns a list of both results, or says so.
TEST(VerifyCalls, EveryResultIsWrittenWhateverIsReturned) {
  const auto call = [](int max, int max_values, bool list) {
    Sample s;
    const std::vector<int32_t> items = {s.at[static_cast<size_t>(max)], s.at[static_cast<size_t>(max_values)]};
    const int returned = list ? s.maker.TensorList(items) : items[1];
    const int n = s.maker.Int(0);
    s.Call("aten::max", "dim_max", {s.at[0], n, n, items[0], items[1], returned});
    return s;
  };
  for (const bool list : {true, false}) {
    Sample apart = call(1, 2, list);
    Expect(apart, "");
    Sample first = call(0, 1, list);
    Expect(first, kOver, 3);
    Sample second = call(1, 0, list);
    Expect(second, kOver, 4);
    if (!list) continue;
    Sample both = call(1, 1, list);
    Expect(both, kOver, 3);
  }
}

TEST(VerifyCalls, ACallReturnsWhatItsOperatorWrites) {
  Sample s;
  s.Call("cortex_m::minimum", "out", {s.at[0], s.at[1], s.at[1], s.at[0]});  // would be taken for written: argument 0
  Expect(s, kReturns, 0);
  Sample t;
  t.Call("aten::copy_", "", {t.at[0], t.at[1], t.at[0]});
  Expect(t, "");
  t.Call("aten::copy_", "", {t.at[0], t.at[1], t.at[1]});
  Expect(t, kReturns, 1, 1);
}

TEST(VerifyCalls, AnOperatorThatChangesItsFirstArgument) {
  Sample s;
  s.Call("aten::copy_", "", {s.at[0], s.Tensor({8}, 0), s.at[0]});
  Expect(s, kOver, 0);
}

TEST(VerifyCalls, ItemsOfListsAreArguments) {
  Sample s;
  s.Call("aten::cat", "out", {s.maker.TensorList({s.at[0], s.at[2]}), s.Tensor({16}, 16), s.Tensor({16}, 16)});
  const auto cat = [](const std::vector<int32_t>& items, bool optional) {
    Sample t;
    const int list = optional ? t.maker.OptionalTensorList(items) : t.maker.TensorList(items);
    t.Call("aten::cat", "out", {list, t.at[1], t.at[1]});
    return t;
  };
  Sample apart = cat({0, 2, 3}, false);
  Expect(apart, "");
  Sample last = cat({0, 2, 1}, false);
  Expect(last, kOver, 1);
  Sample missing = cat({-1, 2}, true);
  Expect(missing, "");
  Sample optional = cat({-1, 1}, true);
  Expect(optional, kOver, 1);
}

TEST(VerifyCalls, ListsOfResults) {
  const auto split = [](const std::vector<int32_t>& outs) {
    Sample t;
    const int list = t.maker.TensorList(outs);
    const int returned = t.maker.TensorList(outs);
    t.Call("aten::unbind_copy", "int_out", {t.at[0], t.maker.Int(0), list, returned});
    return t;
  };
  Sample apart = split({1, 2, 3});
  Expect(apart, "");
  Sample input = split({1, 2, 0});
  Expect(input, kOver, 2);
  Sample twice = split({1, 2, 1});
  Expect(twice, kOver, 2);
  Sample t;
  const int constant = t.maker.Constant(ScalarType::kChar, {16}, std::string(16, '\0'));
  const int list = t.maker.TensorList({t.at[1], constant});
  t.Call("aten::unbind_copy", "int_out", {t.at[0], t.maker.Int(0), list, list});
  Expect(t, kToConstant, 2);
}

// A value may stand for each tensor that any move brings there.
TEST(VerifyCalls, MovesAreFollowed) {
  const auto moved = [](const std::function<void(Sample&)>& move) {
    Sample s;
    move(s);
    s.Call("aten::any", "op_out", {s.at[1], s.at[2], s.at[2]});
    return s;
  };
  Sample elsewhere = moved([](Sample& s) { s.maker.Move(s.at[0], s.at[1]); });
  Expect(elsewhere, "");
  Sample input = moved([](Sample& s) { s.maker.Move(s.at[2], s.at[1]); });
  Expect(input, kOver, 1, 1);
  Sample result = moved([](Sample& s) { s.maker.Move(s.at[1], s.at[2]); });
  Expect(result, kOver, 1, 1);
  Sample twice = moved([](Sample& s) {
    s.maker.Move(s.at[2], s.at[5]);
    s.maker.Move(s.at[5], s.at[1]);
  });
  Expect(twice, kOver, 1, 2);
  Sample circle = moved([](Sample& s) {
    s.maker.Move(s.at[3], s.at[1]);
    s.maker.Move(s.at[1], s.at[3]);
  });
  Expect(circle, "");
  Sample constant =
      moved([](Sample& s) { s.maker.Move(s.maker.Constant(ScalarType::kChar, {16}, std::string(16, '\0')), s.at[2]); });
  Expect(constant, kToConstant, 1, 1);
  // A number that becomes a tensor, and an item of a list.
  Sample s;
  const int number = s.maker.Int(3);
  s.maker.Move(s.at[2], number);
  s.Call("aten::any", "op_out", {number, s.at[2], s.at[2]});
  Expect(s, kOver, 1, 1);
  Sample t;
  t.maker.Move(t.at[2], t.at[0]);
  t.Call("aten::cat", "out", {t.maker.TensorList({t.at[0], t.at[1]}), t.at[2], t.at[2]});
  Expect(t, kOver, 1, 1);
}

Status LoadStatus(Sample& sample) {
  const AlignedBytes bytes(sample.maker.File());
  Program program;
  return Status(Program::Load(bytes.bytes(), program).code(), "");
}

TEST(VerifyCalls, ManyMovesAndArgumentsEnd) {
  Sample chain;
  std::vector<int> links = {chain.at[0]};
  for (uint32_t i = 0; i < 9; ++i) {
    links.push_back(chain.Tensor({16}, 0));
    chain.maker.Move(links[i], links[i + 1]);
  }
  chain.Call("aten::any", "op_out", {links[8], chain.at[1], chain.at[1]});
  EXPECT_TRUE(LoadStatus(chain).ok());
  chain.Call("aten::any", "op_out", {links[9], chain.at[1], chain.at[1]});
  EXPECT_EQ(LoadStatus(chain).code(), Code::kUnsupported);
  // All to all: as many ways as there are orders of the values.
  Sample web;
  for (const int from : web.at) {
    for (const int to : web.at) {
      for (int i = 0; i < 4; ++i) web.maker.Move(from, to);
    }
  }
  web.Call("aten::any", "op_out", {web.at[0], web.at[1], web.at[1]});
  EXPECT_FALSE(LoadStatus(web).ok());
  // A thousand parts are compared, each with each; a list that is named a hundred times is not.
  Sample parts;
  parts.maker.plan().non_const_buffer_sizes[1] = 1 << 20;
  std::vector<int32_t> outs;
  for (uint32_t i = 0; i < 1000; ++i) outs.push_back(parts.Tensor({16}, 1024 + 16 * i));
  const int list = parts.maker.TensorList(outs);
  const int returned = parts.maker.TensorList(outs);
  const int op = parts.maker.Operator("aten::unbind_copy", "int_out");
  parts.maker.Call(op, {parts.at[0], parts.maker.Int(0), list, returned});
  EXPECT_TRUE(LoadStatus(parts).ok());
  for (int i = 0; i < 100; ++i) parts.maker.Call(op, {parts.at[0], parts.maker.Int(0), list, returned});
  EXPECT_FALSE(LoadStatus(parts).ok());
}

}  // namespace
}  // namespace cortex_m
