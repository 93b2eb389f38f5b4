// Logic of truth values (of any type: all but zero is true) and of bits (of integers and bool).

#include "cortex_m/portable/declarations.h"
#include "cortex_m/portable/elementwise.h"

namespace cortex_m {
namespace {

using namespace portable;

struct LogicalAnd {
  template <typename T>
  static T Of(T a, T b) {
    return static_cast<T>(a != 0 && b != 0);
  }
};
struct LogicalOr {
  template <typename T>
  static T Of(T a, T b) {
    return static_cast<T>(a != 0 || b != 0);
  }
};
struct LogicalXor {
  template <typename T>
  static T Of(T a, T b) {
    return static_cast<T>((a != 0) != (b != 0));
  }
};
struct LogicalNot {
  template <typename T>
  static T Of(T a) {
    return static_cast<T>(a == 0);
  }
};
struct BitwiseAnd {
  template <typename T>
  static T Of(T a, T b) {
    return a & b;
  }
};
struct BitwiseOr {
  template <typename T>
  static T Of(T a, T b) {
    return a | b;
  }
};
struct BitwiseXor {
  template <typename T>
  static T Of(T a, T b) {
    return a ^ b;
  }
};
struct BitwiseNot {
  template <typename T>
  static T Of(T a) {
    return ~a;
  }
};

template <typename Functor>
Status Bits(const Tensor& self, const Operand& other, Tensor& out) {
  return Elementwise(kIntegerLanes<Functor, 2>, Result::kPromoted, {self, other}, out);
}

}  // namespace

Status aten::logical_and_out(KernelContext&, const Tensor& self, const Tensor& other, Tensor& out) {
  return Elementwise(kAllLanes<LogicalAnd, 2>, Result::kBool, {self, other}, out);
}
Status aten::logical_or_out(KernelContext&, const Tensor& self, const Tensor& other, Tensor& out) {
  return Elementwise(kAllLanes<LogicalOr, 2>, Result::kBool, {self, other}, out);
}
Status aten::logical_xor_out(KernelContext&, const Tensor& self, const Tensor& other, Tensor& out) {
  return Elementwise(kAllLanes<LogicalXor, 2>, Result::kBool, {self, other}, out);
}
Status aten::logical_not_out(KernelContext&, const Tensor& self, Tensor& out) {
  return Elementwise(kAllLanes<LogicalNot, 1>, Result::kBool, {self}, out);
}

Status aten::bitwise_and_Tensor_out(KernelContext&, const Tensor& self, const Tensor& other, Tensor& out) {
  return Bits<BitwiseAnd>(self, other, out);
}
Status aten::bitwise_and_Scalar_out(KernelContext&, const Tensor& self, Scalar other, Tensor& out) {
  return Bits<BitwiseAnd>(self, other, out);
}
Status aten::bitwise_or_Tensor_out(KernelContext&, const Tensor& self, const Tensor& other, Tensor& out) {
  return Bits<BitwiseOr>(self, other, out);
}
Status aten::bitwise_or_Scalar_out(KernelContext&, const Tensor& self, Scalar other, Tensor& out) {
  return Bits<BitwiseOr>(self, other, out);
}
Status aten::bitwise_xor_Tensor_out(KernelContext&, const Tensor& self, const Tensor& other, Tensor& out) {
  return Bits<BitwiseXor>(self, other, out);
}
Status aten::bitwise_xor_Scalar_out(KernelContext&, const Tensor& self, Scalar other, Tensor& out) {
  return Bits<BitwiseXor>(self, other, out);
}
Status aten::bitwise_not_out(KernelContext&, const Tensor& self, Tensor& out) {
  // A bool has one bit.
  if (self.dtype == ScalarType::kBool) return Elementwise(kIntegerLanes<LogicalNot, 1>, Result::kPromoted, {self}, out);
  return Elementwise(kIntegerLanes<BitwiseNot, 1>, Result::kPromoted, {self}, out);
}

}  // namespace cortex_m
