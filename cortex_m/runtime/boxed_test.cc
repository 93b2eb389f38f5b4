#include "cortex_m/runtime/boxed.h"

#include <gtest/gtest.h>

#include <vector>

namespace cortex_m {
namespace {

Value Of(const Tensor& tensor) {
  Value value;
  value.tag = Tag::kTensor;
  value.as_tensor = tensor;
  return value;
}

template <typename List>
Value Of(Tag tag, List Value::* member, List list) {
  Value value;
  value.tag = tag;
  value.*member = list;
  return value;
}

int g_calls = 0;

template <typename T>
T g_seen{};

// An operator of one parameter that remembers it.
template <typename T>
Status Keep(KernelContext&, T argument) {
  ++g_calls;
  g_seen<T> = argument;
  return Status();
}

template <auto kFunction>
Status CallWith(std::vector<Value> args) {
  KernelContext context;
  return Boxed<kFunction>(context, {args.data(), args.size()});
}

// The tags that a parameter type accepts, tried with every tag.
template <typename T>
std::vector<Tag> Accepted() {
  std::vector<Tag> accepted;
  for (int tag = 0; tag <= static_cast<int>(Tag::kOptionalTensorList); ++tag) {
    Value value;
    value.tag = static_cast<Tag>(tag);
    if (value.tag == Tag::kTensor) value = Of(Tensor());
    g_calls = 0;
    const Status status = CallWith<Keep<T>>({value});
    EXPECT_EQ(g_calls, status.ok() ? 1 : 0);
    if (status.ok()) {
      accepted.push_back(value.tag);
      continue;
    }
    EXPECT_EQ(status.code(), Code::kInvalidArgument);
    EXPECT_STREQ(status.message(), "argument has another type than the kernel takes");
    EXPECT_EQ(status.argument(), 0);
  }
  return accepted;
}

using Tags = std::vector<Tag>;

TEST(Boxed, AcceptsTheTagsOfEachType) {
  EXPECT_EQ(Accepted<const Tensor*>(), (Tags{Tag::kNone, Tag::kTensor}));
  EXPECT_EQ(Accepted<int64_t>(), Tags{Tag::kInt});
  EXPECT_EQ(Accepted<const int64_t*>(), (Tags{Tag::kNone, Tag::kInt}));
  EXPECT_EQ(Accepted<double>(), (Tags{Tag::kInt, Tag::kDouble}));
  EXPECT_EQ(Accepted<const double*>(), (Tags{Tag::kNone, Tag::kInt, Tag::kDouble}));
  EXPECT_EQ(Accepted<bool>(), Tags{Tag::kBool});
  EXPECT_EQ(Accepted<ScalarType>(), Tags{Tag::kInt});
  EXPECT_EQ(Accepted<Scalar>(), (Tags{Tag::kInt, Tag::kBool, Tag::kDouble}));
  EXPECT_EQ(Accepted<Span<const char>>(), Tags{Tag::kString});
  EXPECT_EQ(Accepted<IntList>(), Tags{Tag::kIntList});
  EXPECT_EQ(Accepted<const IntList*>(), (Tags{Tag::kNone, Tag::kIntList}));
  EXPECT_EQ(Accepted<Span<const bool>>(), Tags{Tag::kBoolList});
  EXPECT_EQ(Accepted<Span<const double>>(), Tags{Tag::kDoubleList});
  EXPECT_EQ(Accepted<Span<const Tensor>>(), Tags{Tag::kTensorList});
  EXPECT_EQ(Accepted<Span<const Tensor* const>>(), Tags{Tag::kOptionalTensorList});
}

TEST(Boxed, HandsOverNumbers) {
  ASSERT_TRUE(CallWith<Keep<int64_t>>({Value::Int(-(int64_t{1} << 40))}).ok());
  EXPECT_EQ(g_seen<int64_t>, -(int64_t{1} << 40));
  ASSERT_TRUE(CallWith<Keep<double>>({Value::Double(-0.25)}).ok());
  EXPECT_EQ(g_seen<double>, -0.25);
  ASSERT_TRUE(CallWith<Keep<double>>({Value::Int(-3)}).ok());
  EXPECT_EQ(g_seen<double>, -3);
  ASSERT_TRUE(CallWith<Keep<bool>>({Value::Bool(true)}).ok());
  EXPECT_TRUE(g_seen<bool>);
  ASSERT_TRUE(CallWith<Keep<ScalarType>>({Value::Int(1)}).ok());
  EXPECT_EQ(g_seen<ScalarType>, ScalarType::kChar);
  ASSERT_TRUE(CallWith<Keep<Scalar>>({Value::Double(2.5)}).ok());
  EXPECT_EQ(g_seen<Scalar>.ToDouble(), 2.5);
  ASSERT_TRUE(CallWith<Keep<Scalar>>({Value::Int(-4)}).ok());
  EXPECT_EQ(g_seen<Scalar>.ToDouble(), -4);
  ASSERT_TRUE(CallWith<Keep<Scalar>>({Value::Bool(true)}).ok());
  EXPECT_EQ(g_seen<Scalar>.ToDouble(), 1);
  ASSERT_TRUE(CallWith<Keep<const int64_t*>>({Value()}).ok());
  EXPECT_EQ(g_seen<const int64_t*>, nullptr);
}

Status OptionalDouble(KernelContext& context, const double* number, const int64_t* integer) {
  return number != nullptr && *number == -7.0 && integer != nullptr && *integer == 9 ? Status() : context.Fail("wrong");
}

TEST(Boxed, HandsOverOptionalNumbers) {
  EXPECT_TRUE(CallWith<OptionalDouble>({Value::Int(-7), Value::Int(9)}).ok());
  EXPECT_TRUE(CallWith<OptionalDouble>({Value::Double(-7), Value::Int(9)}).ok());
  EXPECT_FALSE(CallWith<OptionalDouble>({Value(), Value::Int(9)}).ok());
}

TEST(Boxed, HandsOverLists) {
  const int64_t ints[] = {3, -4};
  const bool bools[] = {true, false, true};
  const double doubles[] = {0.5};
  const Tensor tensors[3] = {};
  const Tensor* const optionals[] = {nullptr, tensors};
  ASSERT_TRUE(CallWith<Keep<IntList>>({Of(Tag::kIntList, &Value::as_int_list, {ints, 2})}).ok());
  EXPECT_EQ(g_seen<IntList>.size, 2u);
  EXPECT_EQ(g_seen<IntList>[1], -4);
  ASSERT_TRUE(CallWith<Keep<Span<const bool>>>({Of(Tag::kBoolList, &Value::as_bool_list, {bools, 3})}).ok());
  EXPECT_EQ(g_seen<Span<const bool>>.size, 3u);
  ASSERT_TRUE(CallWith<Keep<Span<const double>>>({Of(Tag::kDoubleList, &Value::as_double_list, {doubles, 1})}).ok());
  EXPECT_EQ(g_seen<Span<const double>>[0], 0.5);
  ASSERT_TRUE(CallWith<Keep<Span<const Tensor>>>({Of(Tag::kTensorList, &Value::as_tensor_list, {tensors, 3})}).ok());
  EXPECT_EQ(g_seen<Span<const Tensor>>.data, tensors);
  ASSERT_TRUE((CallWith<Keep<Span<const Tensor* const>>>(
                   {Of(Tag::kOptionalTensorList, &Value::as_optional_tensor_list, {optionals, 2})})
                   .ok()));
  EXPECT_EQ(g_seen<Span<const Tensor* const>>[1], tensors);
}

Status Writes(KernelContext& context, const Tensor& input, Tensor& scratch, int64_t number, const Tensor& out) {
  return input.rank == 1 && scratch.rank == 2 && number == 5 && out.rank == 3 ? Status() : context.Fail("mixed up");
}

Value OfRank(uint8_t rank, bool constant = false) {
  Tensor tensor;
  tensor.rank = rank;
  tensor.constant = constant;
  return Of(tensor);
}

TEST(Boxed, KeepsTheOrder) {
  EXPECT_TRUE(CallWith<Writes>({OfRank(1), OfRank(2), Value::Int(5), OfRank(3)}).ok());
  EXPECT_TRUE(CallWith<Writes>({OfRank(1, true), OfRank(2), Value::Int(5), OfRank(3)}).ok());
}

TEST(Boxed, NamesTheArgument) {
  const Status status = CallWith<Writes>({OfRank(1), OfRank(2), Value::Double(5), OfRank(3)});
  EXPECT_EQ(status.argument(), 2);
  EXPECT_EQ(status.index(), -1);
  EXPECT_EQ(status.At("op", 7).argument(), 2);
  EXPECT_EQ(status.At("op", 7).index(), 7);
}

TEST(Boxed, RefusesAnotherNumberOfArguments) {
  for (const size_t count : {0, 3, 5}) {
    const Status status = CallWith<Writes>(std::vector<Value>(count, OfRank(1)));
    EXPECT_EQ(status.code(), Code::kInvalidArgument);
    EXPECT_STREQ(status.message(), "the call has another number of arguments than the kernel takes");
  }
}

TEST(Boxed, NeverWritesToAConstant) {
  const Status status = CallWith<Writes>({OfRank(1), OfRank(2, true), Value::Int(5), OfRank(3)});
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_STREQ(status.message(), "the kernel writes to this argument, which is a constant");
  EXPECT_EQ(status.argument(), 1);
}

TEST(Boxed, RefusesWhatIsNoScalarType) {
  for (const int64_t code : {int64_t{-1}, int64_t{128}, int64_t{1} << 32, (int64_t{1} << 32) + 1}) {
    EXPECT_STREQ(CallWith<Keep<ScalarType>>({Value::Int(code)}).message(), "argument is not the code of a scalar type");
  }
}

}  // namespace
}  // namespace cortex_m
