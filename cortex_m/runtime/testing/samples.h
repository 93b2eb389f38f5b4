// Programs that several tests start from.
#ifndef CORTEX_M_RUNTIME_TESTING_SAMPLES_H_
#define CORTEX_M_RUNTIME_TESTING_SAMPLES_H_

#include <string>
#include <vector>

#include "cortex_m/runtime/testing/program_maker.h"

namespace cortex_m {

// y = (x + constant) + x over two instructions; x [2, 3] float.
struct AddSample {
  ProgramMaker maker;
  int x = maker.Planned(ScalarType::kFloat, {2, 3}, 0);
  int constant = maker.Constant(ScalarType::kFloat, {2, 3}, BytesOf<float>({1, -2, 3, -4, 5, -6}));
  int sum = maker.Planned(ScalarType::kFloat, {2, 3}, 32);
  int y = maker.Planned(ScalarType::kFloat, {2, 3}, 64);
  int add = maker.Operator("test::add", "out");
  AddSample() {
    maker.Call(add, {x, constant, sum, sum});
    maker.Call(add, {sum, x, y, y});
    maker.plan().inputs = {x};
    maker.plan().outputs = {y};
  }
};

// Sums x into y n times; n is an input. The instructions: 0 Move i <- 0; 1 copy y <- zeros; 2 cond = i < n;
// 3 JumpFalse cond, 7; 4 y += x; 5 i = i + 1; 6 JumpFalse false, 2; 7 Free x.
struct LoopSample {
  ProgramMaker maker;
  int x = maker.Planned(ScalarType::kFloat, {4}, 0);
  int n = maker.Int(3);
  int y = maker.Planned(ScalarType::kFloat, {4}, 16);
  int zeros = maker.Constant(ScalarType::kFloat, {4}, BytesOf<float>({0, 0, 0, 0}));
  int i = maker.Int(7);
  int zero = maker.Int(0);
  int one = maker.Int(1);
  int condition = maker.Bool(false);
  int never = maker.Bool(false);
  LoopSample() {
    const int add = maker.Operator("test::add_", "");
    const int copy = maker.Operator("test::copy", "out");
    const int add_scalar = maker.Operator("prim::add", "Scalar");
    const int lt_scalar = maker.Operator("prim::lt", "Scalar");
    maker.Move(zero, i);
    maker.Call(copy, {zeros, y, y});
    maker.Call(lt_scalar, {i, n, condition});
    maker.JumpFalse(condition, 7);
    maker.Call(add, {y, x, y});
    maker.Call(add_scalar, {i, one, i});
    maker.JumpFalse(never, 2);
    maker.Free(x);
    maker.plan().inputs = {x, n};
    maker.plan().outputs = {y, i};
  }
};

// One call with every kind of value, one that writes a list of tensors, and every kind of tensor.
struct EveryKindSample {
  ProgramMaker maker{512};
  int x = maker.Unplanned(ScalarType::kChar, {2, 2});
  int weight = maker.Constant(ScalarType::kInt, {3}, BytesOf<int32_t>({-1, 2, -3}));
  int state = maker.State(ScalarType::kShort, {2}, 16, BytesOf<int16_t>({-5, 6}));
  int seven = maker.Int(7);
  int minus_eight = maker.Int(-8);
  int none = maker.Null();
  int truth = maker.Bool(true);
  int half = maker.Double(0.5);
  int text = maker.String("text");
  int ints = maker.IntList({seven, minus_eight});
  int bools = maker.BoolList({true, false, true});
  int doubles = maker.DoubleList({0.25, -4});
  int tensors = maker.TensorList({weight, state});
  int optionals = maker.OptionalTensorList({weight, -1, none, state});
  int empty = maker.Unplanned(ScalarType::kByte, {0});
  int a = maker.Planned(ScalarType::kLong, {1, 2}, 32);
  int b = maker.Planned(ScalarType::kBool, {}, 48);
  int outs = maker.TensorList({a, b});
  int returned = maker.TensorList({a, b});
  int y = maker.Unplanned(ScalarType::kDouble, {2});
  int touch = maker.Operator("test::touch", "");
  EveryKindSample() {
    maker.plan().non_const_buffer_sizes = {0, 64};
    maker.Call(touch, {x, weight, state, seven, none, truth, half, text, ints, bools, doubles, tensors, optionals,
                       empty, a, b, returned});
    maker.Call(touch, {x, seven, outs, returned});
    maker.Call(touch, {outs, ints, ints, y, y});
    maker.plan().inputs = {x, truth};
    maker.plan().outputs = {y, a};
  }
};

}  // namespace cortex_m

#endif  // CORTEX_M_RUNTIME_TESTING_SAMPLES_H_
