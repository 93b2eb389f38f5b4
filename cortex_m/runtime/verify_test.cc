// What the verifier refuses in values and instructions, one thing at a time; each sample is valid before it is spoiled.
#include "cortex_m/runtime/verify.h"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <limits>
#include <string>

#include "cortex_m/runtime/loaded_method.h"
#include "cortex_m/runtime/testing/samples.h"

namespace cortex_m {
namespace {

// A Status, with what it points to: its subject lies in the program, which is gone.
class Told {
 public:
  explicit Told(const Status& status)
      : status_(status), subject_(status.subject() == nullptr ? "" : status.subject()) {}
  bool ok() const { return status_.ok(); }
  Code code() const { return status_.code(); }
  std::string message() const { return status_.message(); }
  std::string subject() const { return subject_; }
  int32_t index() const { return status_.index(); }
  int argument() const { return status_.argument(); }

 private:
  Status status_;
  std::string subject_;
};

Told Load(const std::string& file) {
  const AlignedBytes bytes(file);
  Program program;
  return Told(Program::Load(bytes.bytes(), program));
}

constexpr int32_t kHuge = std::numeric_limits<int32_t>::max();

template <typename Sample>
Told LoadSpoiled(const std::function<void(Sample&)>& spoil) {
  Sample sample;
  EXPECT_TRUE(Load(sample.maker.File()).ok());
  spoil(sample);
  return Load(sample.maker.File());
}

template <typename Sample>
Told ExpectRefused(Code code, const char* message, const std::function<void(Sample&)>& spoil) {
  const Told status = LoadSpoiled<Sample>(spoil);
  EXPECT_EQ(status.code(), code) << message;
  EXPECT_EQ(status.message(), message);
  return status;
}

template <typename Sample>
Told Malformed(const char* message, const std::function<void(Sample&)>& spoil) {
  return ExpectRefused<Sample>(Code::kInvalidProgram, message, spoil);
}
template <typename Sample>
Told Unsupported(const char* message, const std::function<void(Sample&)>& spoil) {
  return ExpectRefused<Sample>(Code::kUnsupported, message, spoil);
}

using Add = AddSample;
using Loop = LoopSample;
using Every = EveryKindSample;

TEST(VerifyTensor, NamesTheValue) {
  const Told status =
      Unsupported<Add>("a tensor has a storage offset", [](Add& s) { s.maker.tensor(s.sum).storage_offset = 1; });
  EXPECT_EQ(status.subject(), "value");
  EXPECT_EQ(status.index(), Add().sum);
}

TEST(VerifyTensor, RefusesWhatThisRuntimeDoesNotDo) {
  for (const auto dynamism : {fbs::TensorShapeDynamism::DYNAMIC_BOUND, fbs::TensorShapeDynamism::DYNAMIC_UNBOUND,
                              static_cast<fbs::TensorShapeDynamism>(77)}) {
    Unsupported<Add>("a tensor has a dynamic shape", [=](Add& s) { s.maker.tensor(s.x).shape_dynamism = dynamism; });
  }
  Unsupported<Add>("a tensor is not strided (its layout is not 0)", [](Add& s) { s.maker.tensor(s.x).layout = 1; });
  for (const int type : {-1, 8, 9, 10, 12, 15, 27, 100}) {
    Unsupported<Add>("a tensor has a scalar type that this runtime does not know",
                     [=](Add& s) { s.maker.tensor(s.x).scalar_type = static_cast<fbs::ScalarType>(type); });
  }
  Unsupported<Add>("a tensor has more than 16 dimensions", [](Add& s) {
    s.maker.tensor(s.x).sizes.assign(17, 1);
    for (uint8_t i = 2; i < 17; ++i) s.maker.tensor(s.x).dim_order.push_back(i);
  });
  const auto extra = [](fbs::TensorT& tensor) -> fbs::ExtraTensorInfoT& {
    tensor.extra_tensor_info = std::make_unique<fbs::ExtraTensorInfoT>();
    return *tensor.extra_tensor_info;
  };
  Unsupported<Add>("a tensor's data is outside the file",
                   [&](Add& s) { extra(s.maker.tensor(s.constant)).location = fbs::TensorDataLocation::EXTERNAL; });
  Unsupported<Add>("a tensor is on another device than the CPU",
                   [&](Add& s) { extra(s.maker.tensor(s.x)).device_type = fbs::DeviceType::CUDA; });
  EXPECT_TRUE(LoadSpoiled<Add>([&](Add& s) { extra(s.maker.tensor(s.x)).fully_qualified_name = "x"; }).ok());
}

TEST(VerifyTensor, AcceptsAnyPermutationAndRank) {
  EXPECT_TRUE(LoadSpoiled<Add>([](Add& s) { s.maker.tensor(s.x).dim_order = {1, 0}; }).ok());
  EXPECT_TRUE(LoadSpoiled<Add>([](Add& s) {
                s.maker.tensor(s.x).sizes.assign(16, 1);
                s.maker.tensor(s.x).dim_order = {15, 14, 13, 12, 11, 10, 9, 8, 0, 1, 2, 3, 4, 5, 6, 7};
              }).ok());
  EXPECT_TRUE(LoadSpoiled<Add>([](Add& s) {
                s.maker.tensor(s.x).sizes.clear();
                s.maker.tensor(s.x).dim_order.clear();
              }).ok());
}

TEST(VerifyTensor, RefusesBadShapes) {
  Malformed<Add>("a tensor has a negative size", [](Add& s) { s.maker.tensor(s.x).sizes[1] = -1; });
  Malformed<Add>("a tensor's dim order has another length than its shape",
                 [](Add& s) { s.maker.tensor(s.x).dim_order.pop_back(); });
  const char* no_permutation = "a tensor's dim order is no permutation of its dimensions";
  Malformed<Add>(no_permutation, [](Add& s) { s.maker.tensor(s.x).dim_order = {0, 0}; });
  Malformed<Add>(no_permutation, [](Add& s) { s.maker.tensor(s.x).dim_order = {0, 2}; });
  Malformed<Add>(no_permutation, [](Add& s) { s.maker.tensor(s.x).dim_order = {255, 1}; });
  // Products that overflow 32 or 64 bits, also beside a size of 0.
  for (const std::vector<int32_t>& sizes : std::vector<std::vector<int32_t>>{
           {1 << 16, 1 << 13}, {kHuge, 1}, {kHuge, kHuge}, {kHuge, kHuge, kHuge, kHuge}, {0, kHuge, kHuge}}) {
    Malformed<Add>("a tensor has 2 GiB or more", [&](Add& s) {
      s.maker.tensor(s.x).sizes = sizes;
      s.maker.tensor(s.x).dim_order.clear();
      for (size_t i = 0; i < sizes.size(); ++i) s.maker.tensor(s.x).dim_order.push_back(static_cast<uint8_t>(i));
    });
  }
}

TEST(VerifyTensor, RefusesDataOutsidePlannedMemory) {
  const char* outside = "a tensor lies outside its planned memory";
  // 24 bytes end at 256, the end of the memory, or 8 bytes behind it.
  EXPECT_TRUE(LoadSpoiled<Add>([](Add& s) { s.maker.plan().non_const_buffer_sizes[1] = 88; }).ok());
  Malformed<Add>(outside, [](Add& s) { s.maker.plan().non_const_buffer_sizes[1] = 87; });
  Malformed<Add>(outside, [](Add& s) { s.maker.tensor(s.x).allocation_info->memory_offset_low = 240; });
  Malformed<Add>(outside, [](Add& s) { s.maker.tensor(s.x).allocation_info->memory_offset_low = 0xfffffff0; });
  Malformed<Add>(outside, [](Add& s) { s.maker.tensor(s.x).allocation_info->memory_offset_high = 1; });
  Malformed<Add>(outside, [](Add& s) { s.maker.tensor(s.x).allocation_info->memory_offset_high = 0xffffffff; });
  Unsupported<Add>("a tensor is planned at an offset that is no multiple of 16 bytes",
                   [](Add& s) { s.maker.tensor(s.x).allocation_info->memory_offset_low = 8; });
  const char* nowhere = "a tensor is planned into a memory that does not exist";
  Malformed<Add>(nowhere, [](Add& s) { s.maker.tensor(s.x).allocation_info->memory_id = 0; });
  Malformed<Add>(nowhere, [](Add& s) { s.maker.tensor(s.x).allocation_info->memory_id = 2; });
  Malformed<Add>(nowhere, [](Add& s) { s.maker.tensor(s.x).allocation_info->memory_id = 0xffffffff; });
  for (const int64_t size : {int64_t{-1}, int64_t{1} << 31, std::numeric_limits<int64_t>::max()}) {
    Malformed<Add>("a planned memory has an impossible size",
                   [=](Add& s) { s.maker.plan().non_const_buffer_sizes[1] = size; });
  }
  Unsupported<Add>("a planned memory is on another device than the CPU", [](Add& s) {
    s.maker.plan().non_const_buffer_device.push_back(std::make_unique<fbs::NonConstBufferDeviceT>());
    s.maker.plan().non_const_buffer_device[0]->device_type = fbs::DeviceType::CUDA;
  });
}

TEST(VerifyTensor, RefusesDataOutsideSegments) {
  const char* missing = "a tensor's data buffer does not exist";
  const char* outside = "a tensor's data lies outside its segment";
  Malformed<Add>(missing, [](Add& s) { s.maker.tensor(s.constant).data_buffer_idx = 2; });
  Malformed<Add>(missing, [](Add& s) { s.maker.tensor(s.constant).data_buffer_idx = 0xffffffff; });
  Malformed<Add>(missing, [](Add& s) { s.maker.program.constant_segment = nullptr; });
  Malformed<Add>(outside, [](Add& s) { s.maker.tensor(s.constant).sizes = {7, 1}; });
  for (const uint64_t offset : {uint64_t{1}, uint64_t{1} << 32, ~uint64_t{0}}) {
    Malformed<Add>(outside, [=](Add& s) { s.maker.program.constant_segment->offsets[1] = offset; });
  }
  EXPECT_TRUE(LoadSpoiled<Add>([](Add& s) { s.maker.tensor(s.constant).sizes = {0, 6}; }).ok());

  Malformed<Every>(missing, [](Every& s) { s.maker.tensor(s.state).data_buffer_idx = 2; });
  Malformed<Every>(outside, [](Every& s) { s.maker.tensor(s.state).sizes = {3}; });
  Malformed<Every>("a tensor's initial state does not exist", [](Every& s) {
    s.maker.tensor(s.state).extra_tensor_info = std::make_unique<fbs::ExtraTensorInfoT>();
    s.maker.tensor(s.state).extra_tensor_info->mutable_data_segments_idx = 1;
  });
}

TEST(VerifyValues, RefusesListsThatLeadNowhere) {
  const char* bad = "a list has an item that does not exist or is of another type";
  const int64_t beyond = static_cast<int64_t>(Every().maker.plan().values.size());
  for (const int64_t index : {int64_t{-1}, int64_t{-2}, beyond, int64_t{1} << 32, (int64_t{1} << 32) + Every().seven,
                              int64_t{Every().half}, int64_t{Every().x}}) {
    Malformed<Every>(
        bad, [=](Every& s) { s.maker.plan().values[static_cast<size_t>(s.ints)]->val.AsIntList()->items[1] = index; });
  }
  for (const int32_t index : {-1, kHuge, Every().seven, Every().none, Every().ints}) {
    Malformed<Every>(bad, [=](Every& s) {
      s.maker.plan().values[static_cast<size_t>(s.tensors)]->val.AsTensorList()->items[1] = index;
    });
  }
  for (const int32_t index : {-2, kHuge, Every().seven, Every().tensors}) {
    Malformed<Every>(bad, [=](Every& s) {
      s.maker.plan().values[static_cast<size_t>(s.optionals)]->val.AsOptionalTensorList()->items[0] = index;
    });
  }
}

TEST(VerifyValues, RefusesWhatIsMissingOrUnknown) {
  Malformed<Every>("a value is missing", [](Every& s) { s.maker.plan().values[0]->val.Reset(); });
  // The three bools of the list behind their count, where the object API writes only 0 and 1.
  std::string two = Every().maker.File();
  const size_t bools = two.find(std::string("\3\0\0\0\1\0\1", 7));
  ASSERT_NE(bools, std::string::npos);
  two[bools + 6] = 2;
  EXPECT_EQ(Load(two).message(), "a bool is neither 0 nor 1");
  // A type of a later schema: flatc's verifier lets it pass. One byte of the file is that type.
  EveryKindSample sample;
  const std::string file = sample.maker.File();
  int refused = 0;
  for (size_t i = 40; i < file.size(); ++i) {
    if (file[i] != static_cast<char>(fbs::KernelTypes::OptionalTensorList)) continue;
    std::string spoiled = file;
    spoiled[i] = 12;
    refused += Load(spoiled).message() == "a value is of a type that does not exist";
  }
  EXPECT_EQ(refused, 1);
}

// A vector's offset moved by four bytes, to where flatc's verifier still finds a length.
TEST(VerifyValues, RefusesUnaligned64BitNumbers) {
  int refused = 0;
  const std::string file = Every().maker.File();
  for (size_t i = 40; i + 4 <= file.size(); i += 4) {
    for (const int shift : {-4, 4}) {
      std::string spoiled = file;
      uint32_t word;
      std::memcpy(&word, &spoiled[i], sizeof(word));
      word += static_cast<uint32_t>(shift);
      std::memcpy(&spoiled[i], &word, sizeof(word));
      refused += Load(spoiled).message() == "a vector of 64-bit numbers is not aligned to 8 bytes";
    }
  }
  // Sizes of memories, offsets of constants and of initial state, the list of ints, the list of doubles.
  EXPECT_GE(refused, 5);
}

TEST(VerifyEnds, RefusesWhatIsNoInputOrOutput) {
  Malformed<Add>("an input or output does not exist", [](Add& s) { s.maker.plan().inputs = {-1}; });
  Malformed<Add>("an input or output does not exist", [](Add& s) { s.maker.plan().outputs = {kHuge}; });
  Malformed<Add>("an input is a constant", [](Add& s) { s.maker.plan().inputs = {s.constant}; });
  EXPECT_TRUE(LoadSpoiled<Add>([](Add& s) { s.maker.plan().outputs = {s.constant}; }).ok());
  const Told status = Unsupported<Every>("an input or output is neither a tensor nor a number",
                                         [](Every& s) { s.maker.plan().inputs = {s.ints}; });
  EXPECT_EQ(status.index(), Every().ints);
}

TEST(VerifyInstructions, RefusesBadCalls) {
  const auto call = [](Add& s) { return s.maker.instruction(1).instr_args.AsKernelCall(); };
  for (const int32_t op : {-1, 1, kHuge}) {
    const Told status =
        Malformed<Add>("the operator of a call does not exist", [&](Add& s) { call(s)->op_index = op; });
    EXPECT_EQ(status.subject(), "instruction");
    EXPECT_EQ(status.index(), 1);
  }
  for (const int32_t value : {-1, 4, kHuge}) {
    const Told status = Malformed<Add>("an argument does not exist", [&](Add& s) { call(s)->args[1] = value; });
    EXPECT_EQ(status.index(), 1);
    EXPECT_EQ(status.argument(), 1);
  }
  Unsupported<Add>("a call has more than 255 arguments", [&](Add& s) { call(s)->args.assign(256, 0); });
  const Told status = Malformed<Add>("a call writes to a constant",
                                     [&](Add& s) { call(s)->args = {s.x, s.sum, s.constant, s.constant}; });
  EXPECT_EQ(status.argument(), 2);
  Malformed<Every>("a call writes to a constant", [](Every& s) {
    const int list = s.maker.TensorList({s.weight, s.a});
    s.maker.Call(s.touch, {s.x, s.weight, s.a, list});
  });
}

TEST(VerifyInstructions, RefusesAConstantChangedInPlace) {
  const Told status = Malformed<Add>("a call writes to a constant", [](Add& s) {
    s.maker.Call(s.maker.Operator("test::add_", ""), {s.constant, s.sum, s.constant});
  });
  EXPECT_EQ(status.argument(), 0);
}

TEST(VerifyInstructions, RefusesBadControlFlow) {
  Malformed<Loop>("a moved value does not exist", [](Loop& s) { s.maker.Move(-1, s.i); });
  Malformed<Loop>("a moved value does not exist", [](Loop& s) { s.maker.Move(s.i, kHuge); });
  Unsupported<Every>("a list or string is moved", [](Every& s) { s.maker.Move(s.ints, s.seven); });
  Unsupported<Every>("a list or string is moved", [](Every& s) { s.maker.Move(s.seven, s.text); });
  Malformed<Loop>("the condition of a jump does not exist", [](Loop& s) { s.maker.JumpFalse(kHuge, 0); });
  Malformed<Loop>("a jump leads out of the method", [](Loop& s) { s.maker.JumpFalse(s.condition, -1); });
  Malformed<Loop>("a jump leads out of the method",
                  [](Loop& s) { s.maker.JumpFalse(s.condition, s.maker.instructions() + 2); });
  EXPECT_TRUE(LoadSpoiled<Loop>([](Loop& s) { s.maker.JumpFalse(s.condition, s.maker.instructions() + 1); }).ok());
  Malformed<Loop>("a freed value is no tensor", [](Loop& s) { s.maker.Free(s.n); });
  Malformed<Loop>("a freed value is no tensor", [](Loop& s) { s.maker.Free(-5); });
  Malformed<Loop>("an instruction is missing", [](Loop& s) { s.maker.instruction(2).instr_args.Reset(); });
  Unsupported<Loop>("the method has more than one chain of instructions",
                    [](Loop& s) { s.maker.plan().chains.push_back(std::make_unique<fbs::ChainT>()); });
}

TEST(VerifyInstructions, NamesTheDelegate) {
  const auto delegate = [](Add& s, int index) {
    s.maker.plan().delegates.push_back(std::make_unique<fbs::BackendDelegateT>());
    s.maker.plan().delegates[0]->id = "XnnpackBackend";
    fbs::DelegateCallT call;
    call.delegate_index = index;
    s.maker.AddInstruction(std::move(call));
  };
  const Told status = Unsupported<Add>("the program calls a delegate, which this runtime does not have",
                                       [&](Add& s) { delegate(s, 0); });
  EXPECT_EQ(status.subject(), "XnnpackBackend");
  EXPECT_EQ(status.index(), 2);
  Malformed<Add>("a delegate does not exist", [&](Add& s) { delegate(s, 1); });
  Malformed<Add>("a delegate does not exist", [&](Add& s) { delegate(s, -1); });
}

TEST(VerifyInstructions, LimitsTheValuesThatChange) {
  const auto moves = [](int count) {
    ProgramMaker maker;
    const int zero = maker.Int(0);
    for (int i = 0; i < count; ++i) maker.Move(zero, maker.Int(i));
    return maker.File();
  };
  EXPECT_TRUE(Load(moves(1024)).ok());
  const Told status = Load(moves(1025));
  EXPECT_EQ(status.code(), Code::kUnsupported);
  EXPECT_EQ(status.message(), "more than 1024 values change while the method runs");
}

// A small file whose tables all name the same vector would be as long as its product to walk.
TEST(VerifyProgram, StopsWherePartsOverlap) {
  flatbuffers::FlatBufferBuilder builder;
  const auto items = builder.CreateVector(std::vector<int64_t>(2000, 0));
  std::vector<flatbuffers::Offset<fbs::EValue>> values = {
      fbs::CreateEValue(builder, fbs::KernelTypes::Int, fbs::CreateInt(builder, 1).Union())};
  for (int i = 0; i < 100; ++i) {
    values.push_back(fbs::CreateEValue(builder, fbs::KernelTypes::IntList, fbs::CreateIntList(builder, items).Union()));
  }
  const auto all_values = builder.CreateVector(values);
  const auto name = builder.CreateString("forward");
  fbs::ExecutionPlanBuilder plan(builder);
  plan.add_name(name);
  plan.add_values(all_values);
  const auto plans = builder.CreateVector(std::vector<flatbuffers::Offset<fbs::ExecutionPlan>>{plan.Finish()});
  fbs::FinishProgramBuffer(builder, fbs::CreateProgram(builder, 0, plans));
  const Told status = Load(std::string(reinterpret_cast<const char*>(builder.GetBufferPointer()), builder.GetSize()));
  EXPECT_EQ(status.code(), Code::kInvalidProgram);
  EXPECT_EQ(status.message(), "parts of the program overlap");
}

}  // namespace
}  // namespace cortex_m
