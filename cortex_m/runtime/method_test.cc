#include "cortex_m/runtime/method.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cortex_m/runtime/loaded_method.h"
#include "cortex_m/runtime/testing/kernels.h"
#include "cortex_m/runtime/testing/samples.h"

namespace cortex_m {
namespace {

using ::cortex_m::testing::kTestKernels;

void Fill(const Value& value, const std::vector<float>& numbers) {
  ASSERT_EQ(value.tag, Tag::kTensor);
  ASSERT_EQ(ByteSize(value.as_tensor), numbers.size() * sizeof(float));
  std::memcpy(value.as_tensor.data, numbers.data(), numbers.size() * sizeof(float));
}

std::vector<float> Floats(const Value& value) {
  const float* data = value.as_tensor.as<float>();
  return std::vector<float>(data, data + ElementCount(value.as_tensor));
}

void ExpectOk(const Status& status) { EXPECT_TRUE(status.ok()) << status.message() << " " << status.index(); }

TEST(Method, RunsKernelsInOrder) {
  LoadedMethod loaded(AddSample().maker.File(), kTestKernels);
  ExpectOk(loaded.status);
  Method& method = loaded.method;
  ASSERT_EQ(method.input_count(), 1u);
  ASSERT_EQ(method.output_count(), 1u);
  Fill(method.input(0), {10, 20, -30, 40, -50, 60});
  ExpectOk(method.Execute());
  // 2 x + constant
  EXPECT_EQ(Floats(method.output(0)), (std::vector<float>{21, 38, -57, 76, -95, 114}));
  EXPECT_EQ(method.output(0).as_tensor.rank, 2);
  EXPECT_EQ(method.output(0).as_tensor.sizes[1], 3);
}

TEST(Method, TheSameWhenVerifiedAtBuild) {
  const AlignedBytes bytes(AddSample().maker.File(24));
  Program program;
  ExpectOk(Program::LoadVerifiedAtBuild(bytes.bytes(), program));
  static constexpr MethodSizes kSizes = {1, 0, 3, 0, 0, 0};
  MethodSizes measured;
  ExpectOk(Measure(program, "forward", measured));
  EXPECT_EQ(measured.operators, kSizes.operators);
  EXPECT_EQ(measured.slots, kSizes.slots);
  EXPECT_EQ(measured.arguments, kSizes.arguments);
  static MethodStorage<kSizes> storage;
  alignas(kDataAlignment) static uint8_t arena[256];
  const Span<uint8_t> planned[] = {{arena, sizeof(arena)}};
  Method method;
  EXPECT_EQ(method.InitMeasured(program, "backward", kTestKernels, storage.buffers(), {planned, 1}).code(),
            Code::kNotFound);
  ExpectOk(method.InitMeasured(program, "forward", kTestKernels, storage.buffers(), {planned, 1}));
  Fill(method.input(0), {1, 1, 1, 1, 1, 1});
  ExpectOk(method.Execute());
  EXPECT_EQ(Floats(method.output(0)), (std::vector<float>{3, 0, 5, -2, 7, -4}));
}

TEST(Method, StorageHasExactlyTheSizesMeasured) {
  static constexpr MethodSizes kSizes = {5, 2, 7, 11, 3, 1};
  static MethodStorage<kSizes> storage;
  const MethodBuffers buffers = storage.buffers();
  EXPECT_EQ(buffers.kernels.size, 5u);
  EXPECT_EQ(buffers.slots.size, 2u);
  EXPECT_EQ(buffers.arguments.size, 7u);
  EXPECT_EQ(buffers.integers.size, 11u);
  EXPECT_EQ(buffers.tensors.size, 3u);
  EXPECT_EQ(buffers.tensor_pointers.size, 1u);
}

TEST(Method, LoopsAndReturnsNumbers) {
  LoopSample sample;
  LoadedMethod loaded(sample.maker.File(), kTestKernels);
  ExpectOk(loaded.status);
  Method& method = loaded.method;
  EXPECT_EQ(loaded.sizes.slots, 3u);  // i, n, condition
  Fill(method.input(0), {1, -2, 0.5f, 4});
  for (const int64_t n : {3, 0, 5}) {
    ExpectOk(method.SetInput(1, Value::Int(n)));
    ExpectOk(method.Execute());
    const float k = static_cast<float>(n);
    EXPECT_EQ(Floats(method.output(0)), (std::vector<float>{k, -2 * k, k / 2, 4 * k}));
    EXPECT_EQ(method.output(1).tag, Tag::kInt);
    EXPECT_EQ(method.output(1).as_int, n);
  }
}

TEST(Method, EndsAnEndlessLoop) {
  ProgramMaker maker;
  const int never = maker.Bool(false);
  maker.JumpFalse(never, 0);
  LoadedMethod loaded(maker.File(), kTestKernels);
  ExpectOk(loaded.status);
  const Status status = loaded.method.Execute(1000);
  EXPECT_EQ(status.code(), Code::kInvalidProgram);
  EXPECT_STREQ(status.message(), "the method did not end within the limit of instructions");
}

TEST(Method, LimitCountsInstructions) {
  LoadedMethod loaded(AddSample().maker.File(), kTestKernels);
  ExpectOk(loaded.method.Execute(2));
  EXPECT_FALSE(loaded.method.Execute(1).ok());
}

// if (condition) y = a else y = b, as exir emits torch.cond: the branches move their result into one value.
struct BranchSample {
  ProgramMaker maker;
  int condition = maker.Planned(ScalarType::kBool, {2}, 0);
  int a = maker.Planned(ScalarType::kFloat, {1}, 16);
  int b = maker.Constant(ScalarType::kFloat, {1}, BytesOf<float>({-7.5f}));
  int y = maker.Unplanned(ScalarType::kFloat, {1});
  int z = maker.Planned(ScalarType::kFloat, {1}, 32);
  int never = maker.Bool(false);
  int copy = maker.Operator("test::copy", "out");
  BranchSample() {
    maker.JumpFalse(condition, 3);
    maker.Move(a, y);
    maker.JumpFalse(never, 4);
    maker.Move(b, y);
    maker.Call(copy, {y, z, z});
    maker.plan().inputs = {condition, a};
    maker.plan().outputs = {z, y};
  }
};

TEST(Method, BranchesOnATensorOfBools) {
  LoadedMethod loaded(BranchSample().maker.File(), kTestKernels);
  ExpectOk(loaded.status);
  Method& method = loaded.method;
  Fill(method.input(1), {2.25f});
  for (int bits = 0; bits < 4; ++bits) {
    uint8_t* condition = method.input(0).as_tensor.mutable_as<uint8_t>();
    condition[0] = bits & 1;
    condition[1] = static_cast<uint8_t>(bits >> 1);
    ExpectOk(method.Execute());
    EXPECT_EQ(Floats(method.output(0))[0], bits == 3 ? 2.25f : -7.5f);
    EXPECT_EQ(method.output(1).as_tensor.data == method.input(1).as_tensor.data, bits == 3);
  }
}

TEST(Method, NeverWritesToAConstantThatWasMoved) {
  BranchSample sample;
  const int other = sample.maker.Planned(ScalarType::kFloat, {1}, 48);
  sample.maker.Call(sample.copy, {other, sample.y, sample.y});
  LoadedMethod loaded(sample.maker.File(), kTestKernels);
  EXPECT_EQ(loaded.status.code(), Code::kInvalidProgram);
  EXPECT_STREQ(loaded.status.message(), "a call writes to a constant");
  EXPECT_EQ(loaded.status.index(), 5);
  EXPECT_EQ(loaded.status.argument(), 1);
}

TEST(Method, AnIntMovedIntoATensorIsAnError) {
  BranchSample sample;
  const int seven = sample.maker.Int(7);
  sample.maker.Move(seven, sample.y);
  sample.maker.Call(sample.copy, {sample.y, sample.z, sample.z});
  LoadedMethod loaded(sample.maker.File(), kTestKernels);
  ExpectOk(loaded.status);
  const Status status = loaded.method.Execute();
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_STREQ(status.message(), "argument has another type than the kernel takes");
  EXPECT_EQ(status.index(), 6);
  EXPECT_EQ(status.argument(), 0);
}

TEST(Method, ConditionMustBeBool) {
  ProgramMaker maker;
  const int number = maker.Int(1);
  maker.JumpFalse(number, 0);
  LoadedMethod loaded(maker.File(), kTestKernels);
  ExpectOk(loaded.status);
  EXPECT_STREQ(loaded.method.Execute().message(), "the condition of a jump is neither a bool nor a tensor of bools");
}

// What the kernels of EveryKindSample see.
std::vector<std::vector<Value>> g_calls;
std::vector<int64_t> g_ints;
std::vector<int> g_optional;  // first element of each tensor, 0 for None

Status Record(KernelContext&, Span<Value> args) {
  g_calls.emplace_back(args.begin(), args.end());
  for (const Value& value : args) {
    if (value.tag == Tag::kIntList) g_ints.assign(value.as_int_list.begin(), value.as_int_list.end());
    if (value.tag != Tag::kOptionalTensorList) continue;
    for (const Tensor* tensor : value.as_optional_tensor_list) {
      g_optional.push_back(tensor == nullptr                     ? 0
                           : tensor->dtype == ScalarType::kShort ? tensor->as<int16_t>()[0]
                                                                 : tensor->as<int32_t>()[0]);
    }
  }
  return Status();
}

TEST(Method, HandsEveryKindOfValueToTheKernel) {
  g_calls.clear();
  g_optional.clear();
  constexpr Kernel kRecorder[] = {{"test::touch", Record}};
  EveryKindSample sample;
  LoadedMethod loaded(sample.maker.File(), {kRecorder, 1});
  ExpectOk(loaded.status);
  ExpectOk(loaded.method.SetInput(1, Value::Bool(true)));
  ExpectOk(loaded.method.Execute());
  ASSERT_EQ(g_calls.size(), 3u);

  const std::vector<Value>& first = g_calls[0];
  ASSERT_EQ(first.size(), 16u);  // the list of what is returned is not an argument
  const std::vector<Tag> tags = {Tag::kTensor,
                                 Tag::kTensor,
                                 Tag::kTensor,
                                 Tag::kInt,
                                 Tag::kNone,
                                 Tag::kBool,
                                 Tag::kDouble,
                                 Tag::kString,
                                 Tag::kIntList,
                                 Tag::kBoolList,
                                 Tag::kDoubleList,
                                 Tag::kTensorList,
                                 Tag::kOptionalTensorList,
                                 Tag::kTensor,
                                 Tag::kTensor,
                                 Tag::kTensor};
  for (size_t i = 0; i < tags.size(); ++i) EXPECT_EQ(first[i].tag, tags[i]) << i;
  EXPECT_EQ(first[0].as_tensor.dtype, ScalarType::kChar);
  EXPECT_FALSE(first[0].as_tensor.constant);
  EXPECT_TRUE(first[1].as_tensor.constant);
  EXPECT_EQ(first[1].as_tensor.as<int32_t>()[2], -3);
  EXPECT_EQ(first[2].as_tensor.as<int16_t>()[0], -5);  // its initial state
  EXPECT_EQ(first[3].as_int, 7);
  EXPECT_EQ(first[5].as_bool, true);
  EXPECT_EQ(first[6].as_double, 0.5);
  EXPECT_EQ(std::string(first[7].as_string.begin(), first[7].as_string.end()), "text");
  EXPECT_EQ(g_ints, (std::vector<int64_t>{7, -8}));
  ASSERT_EQ(first[9].as_bool_list.size, 3u);
  EXPECT_FALSE(first[9].as_bool_list[1]);
  ASSERT_EQ(first[10].as_double_list.size, 2u);
  EXPECT_EQ(first[10].as_double_list[1], -4);
  ASSERT_EQ(first[11].as_tensor_list.size, 2u);
  EXPECT_EQ(g_optional, (std::vector<int>{-1, 0, 0, -5}));
  EXPECT_EQ(ElementCount(first[13].as_tensor), 0u);
  EXPECT_EQ(first[15].as_tensor.rank, 0);

  ASSERT_EQ(g_calls[1].size(), 3u);  // nor is a second list of the same tensors
  EXPECT_EQ(g_calls[1][2].tag, Tag::kTensorList);
  ASSERT_EQ(g_calls[2].size(), 4u);  // two lists of ints in one call do not share their room
  EXPECT_NE(g_calls[2][1].as_int_list.data, g_calls[2][2].as_int_list.data);
  EXPECT_EQ(g_calls[2][3].as_tensor.dtype, ScalarType::kDouble);
}

// The arguments of a call as exir's emitter writes them, and what of them the kernel gets.
TEST(Method, HandsOverTheSchemasArgumentsOnce) {
  constexpr Kernel kRecorder[] = {{"op", Record}, {"op_", Record}};
  struct Case {
    std::vector<int32_t> args;
    size_t handed;
    bool changes_first = false;
  };
  ProgramMaker maker;
  const int x = maker.Planned(ScalarType::kFloat, {2}, 0);
  const int y = maker.Planned(ScalarType::kFloat, {2}, 16);
  const int z = maker.Planned(ScalarType::kFloat, {2}, 32);
  const int number = maker.Int(4);
  const int result = maker.Int(0);
  const int truth = maker.Bool(false);
  const int two = maker.TensorList({y, z});
  const int two_again = maker.TensorList({y, z});
  const int u = maker.Planned(ScalarType::kFloat, {2}, 48);
  const int v = maker.Planned(ScalarType::kFloat, {2}, 64);
  const int other_two = maker.TensorList({v, u});
  const std::vector<Case> cases = {
      {{x, y, y}, 2},                 // op.out(x, out=y) -> y
      {{x, y, truth, x}, 3, true},    // copy_(x, y, non_blocking) -> x
      {{x, number, y, z, two}, 4},    // max.dim_max(x, dim, max=y, max_values=z) -> (y, z)
      {{x, two, two_again}, 2},       // split_copy.out(x, out=[y, z]) -> [y, z]
      {{x, two, two}, 2},             //
      {{x, two, other_two}, 3},       // another list is another argument
      {{x, u, v, two}, 4},            //
      {{number, number, result}, 3},  // executorch_prim::add.Scalar(n, n) -> result
      {{number, result, result}, 3},  // sub.Scalar(n, result) -> result
      {{result, number, result}, 3},  //
      {{x}, 1},
      {{}, 0},
  };
  const int op = maker.Operator("op", "");
  const int op_ = maker.Operator("op_", "");
  for (const Case& one : cases) maker.Call(one.changes_first ? op_ : op, one.args);
  LoadedMethod loaded(maker.File(), {kRecorder, 2});
  ExpectOk(loaded.status);
  EXPECT_EQ(loaded.sizes.slots, 1u);  // result
  g_calls.clear();
  ExpectOk(loaded.method.Execute());
  ASSERT_EQ(g_calls.size(), cases.size());
  for (size_t i = 0; i < cases.size(); ++i) EXPECT_EQ(g_calls[i].size(), cases[i].handed) << i;
}

TEST(Method, StateStartsAsInTheFileAndStays) {
  ProgramMaker maker;
  const int x = maker.Planned(ScalarType::kFloat, {2}, 0);
  const int state = maker.State(ScalarType::kFloat, {2}, 16, BytesOf<float>({100, -100}));
  maker.Call(maker.Operator("test::add_", ""), {state, x, state});
  maker.plan().inputs = {x};
  maker.plan().outputs = {state};
  LoadedMethod loaded(maker.File(), kTestKernels);
  ExpectOk(loaded.status);
  Fill(loaded.method.input(0), {1, 2});
  ExpectOk(loaded.method.Execute());
  ExpectOk(loaded.method.Execute());
  EXPECT_EQ(Floats(loaded.method.output(0)), (std::vector<float>{102, -96}));
}

struct UnplannedSample {
  ProgramMaker maker;
  int x = maker.Unplanned(ScalarType::kFloat, {2});
  int y = maker.Unplanned(ScalarType::kFloat, {2});
  UnplannedSample() {
    maker.Call(maker.Operator("test::add", "out"), {x, x, y, y});
    maker.plan().inputs = {x};
    maker.plan().outputs = {y};
  }
};

TEST(Method, UsesTheCallersMemory) {
  LoadedMethod loaded(UnplannedSample().maker.File(), kTestKernels);
  Method& method = loaded.method;
  alignas(8) float x[2] = {3, -4};
  alignas(8) float y[3] = {0, 0, 9};
  ExpectOk(method.SetInputMemory(0, {reinterpret_cast<uint8_t*>(x), sizeof(x)}));
  ExpectOk(method.SetOutputMemory(0, {reinterpret_cast<uint8_t*>(y), sizeof(y)}));
  ExpectOk(method.Execute());
  EXPECT_EQ(y[0], 6);
  EXPECT_EQ(y[1], -8);
  EXPECT_EQ(y[2], 9);
  EXPECT_EQ(method.output(0).as_tensor.data, y);
}

TEST(Method, RefusesMemoryThatDoesNotFit) {
  LoadedMethod loaded(UnplannedSample().maker.File(), kTestKernels);
  Method& method = loaded.method;
  alignas(8) uint8_t memory[16];
  EXPECT_EQ(method.SetInputMemory(0, {memory, 7}).code(), Code::kResourceExhausted);
  EXPECT_STREQ(method.SetInputMemory(0, {memory + 1, 15}).message(),
               "the memory is not aligned to the tensor's elements");
  EXPECT_STREQ(method.SetInputMemory(1, {memory, 16}).message(), "the method has no such input");
  EXPECT_STREQ(method.SetOutputMemory(1, {memory, 16}).message(), "the method has no such output");

  LoadedMethod planned(AddSample().maker.File(), kTestKernels);
  EXPECT_STREQ(planned.method.SetInputMemory(0, {memory, 16}).message(),
               "only a tensor without planned memory can be given memory");
  LoadedMethod loop(LoopSample().maker.File(), kTestKernels);
  EXPECT_STREQ(loop.method.SetInput(0, Value::Int(1)).message(), "the input is not a number of this type");
  EXPECT_STREQ(loop.method.SetInput(1, Value::Double(1)).message(), "the input is not a number of this type");
  EXPECT_STREQ(loop.method.SetInput(2, Value::Int(1)).message(), "the method has no such input");
}

// Init with what a test chooses, where LoadedMethod gives what is right.
struct Bare {
  explicit Bare(const std::string& file) : bytes(file) { load = Program::Load(bytes.bytes(), program); }
  Status Init(Span<const Span<uint8_t>> planned, KernelTable table = kTestKernels, const char* name = nullptr) {
    return method.Init(
        program, name, table,
        {{kernels, kernel_count}, {slots, 4}, {arguments, argument_count}, {integers, 4}, {tensors, 4}, {pointers, 4}},
        planned);
  }
  AlignedBytes bytes;
  Program program;
  Status load;
  Method method;
  size_t kernel_count = 4;
  size_t argument_count = 4;
  KernelFunction kernels[4];
  Slot slots[4];
  Value arguments[4];
  int64_t integers[4];
  Tensor tensors[4];
  const Tensor* pointers[4];
};

TEST(Method, ATensorWithoutMemoryIsAnError) {
  Bare bare(UnplannedSample().maker.File());
  alignas(kDataAlignment) uint8_t arena[256];
  const Span<uint8_t> planned[] = {{arena, sizeof(arena)}};
  ExpectOk(bare.Init({planned, 1}));
  const Status status = bare.method.Execute();
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_STREQ(status.message(), "a tensor has no memory: it is not planned, and the caller gave it none");
  EXPECT_STREQ(status.subject(), "test::add");
  EXPECT_EQ(status.index(), 0);
  EXPECT_EQ(status.argument(), 0);
}

TEST(Method, InitRefusesWhatIsTooSmall) {
  Bare bare(AddSample().maker.File());
  ExpectOk(bare.load);
  EXPECT_EQ(PlannedCount(bare.program, "forward"), 1u);
  EXPECT_EQ(PlannedBytes(bare.program, "forward", 1), 256u);
  EXPECT_EQ(PlannedBytes(bare.program, "forward", 2), 0u);
  EXPECT_EQ(PlannedBytes(bare.program, "backward", 1), 0u);
  alignas(kDataAlignment) uint8_t arena[272];

  const Span<uint8_t> small[] = {{arena, 255}};
  Status status = bare.Init({small, 1});
  EXPECT_EQ(status.code(), Code::kResourceExhausted);
  EXPECT_EQ(status.index(), 1);
  status = bare.Init({nullptr, 0});
  EXPECT_EQ(status.code(), Code::kResourceExhausted);
  const Span<uint8_t> unaligned[] = {{arena + 8, 256}};
  EXPECT_STREQ(bare.Init({unaligned, 1}).message(), "a planned memory is not aligned to 16 bytes");
  EXPECT_STREQ(bare.method.Execute().message(), "the method is not initialised");
  EXPECT_EQ(bare.method.input_count(), 0u);

  const Span<uint8_t> enough[] = {{arena, 256}};
  bare.argument_count = 2;
  EXPECT_STREQ(bare.Init({enough, 1}).message(), "the method's buffers are smaller than Measure() says");
  bare.argument_count = 3;
  bare.kernel_count = 0;
  EXPECT_EQ(bare.Init({enough, 1}).code(), Code::kResourceExhausted);
  bare.kernel_count = 1;
  ExpectOk(bare.Init({enough, 1}));
}

TEST(Method, InitNamesWhatIsMissing) {
  alignas(kDataAlignment) uint8_t arena[256];
  const Span<uint8_t> planned[] = {{arena, sizeof(arena)}};
  AddSample sample;
  const int unknown = sample.maker.Operator("test::unknown", "out");
  Bare unused(sample.maker.File());
  ExpectOk(unused.Init({planned, 1}));  // no instruction calls it
  sample.maker.Call(unknown, {sample.x});
  Bare used(sample.maker.File());
  const Status status = used.Init({planned, 1});
  EXPECT_EQ(status.code(), Code::kNotFound);
  EXPECT_STREQ(status.message(), "no kernel for this operator is linked in");
  EXPECT_STREQ(status.subject(), "test::unknown");
  EXPECT_EQ(status.index(), 2);
  EXPECT_EQ(unused.Init({planned, 1}, kTestKernels, "backward").code(), Code::kNotFound);
  Bare nothing("");
  EXPECT_STREQ(nothing.Init({planned, 1}).message(), "no program is loaded");
}

TEST(Method, KernelNamesAreComparedWhole) {
  const auto missing = [](const char* kernel) {
    const Kernel table[] = {{kernel, testing::touch}};
    return LoadedMethod(AddSample().maker.File(), {table, 1}).status.code() == Code::kNotFound;
  };
  EXPECT_FALSE(missing("test::add.out"));
  for (const char* name :
       {"test::add", "test::add.", "test::add.ou", "test::add.outs", "test::addd.out", "", "test::ad.out"}) {
    EXPECT_TRUE(missing(name)) << name;
  }
}

TEST(Method, AnOperatorWithoutOverloadIsComparedWholeToo) {
  AddSample sample;
  sample.maker.Call(sample.maker.Operator("test::add", ""), {sample.x});
  const std::string file = sample.maker.File();
  const Kernel both[] = {{"test::add.out", testing::touch}, {"test::add", testing::touch}};
  EXPECT_EQ(LoadedMethod(file, {both, 1}).status.code(), Code::kNotFound);
  ExpectOk(LoadedMethod(file, {both, 2}).status);
}

TEST(Method, RunsTheMethodThatIsNamed) {
  AddSample sample;
  auto second = std::make_unique<fbs::ExecutionPlanT>(sample.maker.plan());
  second->name = "twice";
  second->chains[0]->instructions.erase(second->chains[0]->instructions.begin());
  sample.maker.program.execution_plan.push_back(std::move(second));
  const std::string file = sample.maker.File();
  LoadedMethod loaded(file, kTestKernels, "twice");
  ExpectOk(loaded.status);
  EXPECT_EQ(loaded.program.method_count(), 2u);
  EXPECT_STREQ(loaded.program.method_name(1), "twice");
  EXPECT_EQ(loaded.program.method_name(2), nullptr);
  EXPECT_EQ(loaded.method.instruction_count(), 1u);
  EXPECT_EQ(LoadedMethod(file, kTestKernels).method.instruction_count(), 2u);
}

TEST(Method, AFailingKernelIsNamed) {
  AddSample sample;
  sample.maker.tensor(sample.y).sizes = {3, 2};
  LoadedMethod loaded(sample.maker.File(), kTestKernels);
  const Status status = loaded.method.Execute();
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_STREQ(status.message(), "add needs tensors of one shape");
  EXPECT_STREQ(status.subject(), "test::add");
  EXPECT_EQ(status.index(), 1);
}

struct Seen {
  std::vector<int> events;
  Method* method;
};

TEST(Method, TellsTheObserverAndTheFaultHandler) {
  LoadedMethod loaded(LoopSample().maker.File(), kTestKernels);
  ExpectOk(loaded.method.SetInput(1, Value::Int(0)));
  Seen seen = {{}, &loaded.method};
  loaded.method.set_observer({[](void* context, int32_t instruction, Phase phase) {
                                auto& told = *static_cast<Seen*>(context);
                                EXPECT_EQ(g_running.instruction, instruction);
                                EXPECT_EQ(g_running.operator_name, told.method->operator_name(instruction));
                                told.events.push_back(phase == Phase::kBegin ? instruction : -instruction);
                              },
                              &seen});
  ExpectOk(loaded.method.Execute());
  EXPECT_EQ(seen.events, (std::vector<int>{0, 0, 1, -1, 2, -2, 3, -3, 7, -7}));
  EXPECT_EQ(g_running.instruction, -1);
  EXPECT_EQ(g_running.operator_name, nullptr);
  EXPECT_EQ(loaded.method.operator_name(0), nullptr);
  EXPECT_STREQ(loaded.method.operator_name(1), "test::copy");
  EXPECT_EQ(loaded.method.operator_name(8), nullptr);
  EXPECT_EQ(loaded.method.operator_name(-1), nullptr);
}

TEST(Method, StepsOneInstructionAtATime) {
  LoadedMethod loaded(AddSample().maker.File(), kTestKernels);
  Method& method = loaded.method;
  Fill(method.input(0), {1, 1, 1, 1, 1, 1});
  method.Begin();
  EXPECT_EQ(method.next_instruction(), 0);
  ExpectOk(method.Step());
  EXPECT_FALSE(method.done());
  ExpectOk(method.Step());
  EXPECT_TRUE(method.done());
  EXPECT_FALSE(method.Step().ok());
  EXPECT_EQ(Floats(method.output(0))[0], 3);
}

}  // namespace
}  // namespace cortex_m
