// Comparisons of tensors and numbers: bool for every pair of types. A NaN is equal to nothing, itself included.
//
// A number is converted to the common type first, as by PyTorch: 300 compares with int8 as 44.

#include "cortex_m/portable/declarations.h"
#include "cortex_m/portable/elementwise.h"

namespace cortex_m {
namespace {

using namespace portable;

struct Equal {
  template <typename T>
  static T Of(T a, T b) {
    return static_cast<T>(a == b);
  }
};
struct NotEqual {
  template <typename T>
  static T Of(T a, T b) {
    return static_cast<T>(a != b);
  }
};
struct GreaterEqual {
  template <typename T>
  static T Of(T a, T b) {
    return static_cast<T>(a >= b);
  }
};
struct Greater {
  template <typename T>
  static T Of(T a, T b) {
    return static_cast<T>(a > b);
  }
};
struct LessEqual {
  template <typename T>
  static T Of(T a, T b) {
    return static_cast<T>(a <= b);
  }
};
struct Less {
  template <typename T>
  static T Of(T a, T b) {
    return static_cast<T>(a < b);
  }
};

template <typename Functor>
Status Compare(const Tensor& self, const Operand& other, Tensor& out) {
  return Elementwise(kAllLanes<Functor, 2>, Result::kBool, {self, other}, out);
}

}  // namespace

Status aten::eq_Tensor_out(KernelContext&, const Tensor& self, const Tensor& other, Tensor& out) {
  return Compare<Equal>(self, other, out);
}
Status aten::eq_Scalar_out(KernelContext&, const Tensor& self, Scalar other, Tensor& out) {
  return Compare<Equal>(self, other, out);
}
Status aten::ne_Tensor_out(KernelContext&, const Tensor& self, const Tensor& other, Tensor& out) {
  return Compare<NotEqual>(self, other, out);
}
Status aten::ne_Scalar_out(KernelContext&, const Tensor& self, Scalar other, Tensor& out) {
  return Compare<NotEqual>(self, other, out);
}
Status aten::ge_Tensor_out(KernelContext&, const Tensor& self, const Tensor& other, Tensor& out) {
  return Compare<GreaterEqual>(self, other, out);
}
Status aten::ge_Scalar_out(KernelContext&, const Tensor& self, Scalar other, Tensor& out) {
  return Compare<GreaterEqual>(self, other, out);
}
Status aten::gt_Tensor_out(KernelContext&, const Tensor& self, const Tensor& other, Tensor& out) {
  return Compare<Greater>(self, other, out);
}
Status aten::gt_Scalar_out(KernelContext&, const Tensor& self, Scalar other, Tensor& out) {
  return Compare<Greater>(self, other, out);
}
Status aten::le_Tensor_out(KernelContext&, const Tensor& self, const Tensor& other, Tensor& out) {
  return Compare<LessEqual>(self, other, out);
}
Status aten::le_Scalar_out(KernelContext&, const Tensor& self, Scalar other, Tensor& out) {
  return Compare<LessEqual>(self, other, out);
}
Status aten::lt_Tensor_out(KernelContext&, const Tensor& self, const Tensor& other, Tensor& out) {
  return Compare<Less>(self, other, out);
}
Status aten::lt_Scalar_out(KernelContext&, const Tensor& self, Scalar other, Tensor& out) {
  return Compare<Less>(self, other, out);
}

}  // namespace cortex_m
