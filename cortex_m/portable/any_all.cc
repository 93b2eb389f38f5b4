// any and all: bool, but uint8 of uint8.

#include "cortex_m/portable/declarations.h"
#include "cortex_m/portable/reduce.h"

namespace cortex_m {
namespace {

using namespace portable;

// Any element that is (any) or is not (all) true decides.
template <typename T, bool kAny>
class Truth {
 public:
  using Lane = T;
  void Add(T x) { decided_ |= (x != 0) == kAny; }
  T Result() const { return static_cast<T>(decided_ == kAny); }

 private:
  bool decided_ = false;
};

template <bool kAny>
Status Decide(const Tensor& self, uint32_t reduced, bool keepdim, Tensor& out) {
  const ScalarType expected = self.dtype == ScalarType::kByte ? ScalarType::kByte : ScalarType::kBool;
  if (out.dtype != expected) return Refuse("the out tensor must be bool, or uint8 for an input of uint8");
  Reduction reduction;
  CORTEX_M_RETURN_IF_ERROR(reduction.Init(self, reduced, keepdim, out));
  const auto run = [&](auto start) {
    using Reducer = decltype(start);
    reduction.ForEach([&](ptrdiff_t to, ptrdiff_t first) {
      Reducer reducer = start;
      reduction.Feed(first, self.dtype, reducer);
      const typename Reducer::Lane result = reducer.Result();
      Store(&result, 1, out.dtype, out.data, to, 1);
    });
  };
  if (IsFloat(self.dtype)) {
    run(Truth<float, kAny>());
  } else {
    run(Truth<int64_t, kAny>());
  }
  return Status();
}

template <bool kAny>
Status DecideDim(const Tensor& self, int64_t dim, bool keepdim, Tensor& out) {
  if (!NormalizeDim(dim, self.rank)) return Refuse(kDimOutOfRange);
  return Decide<kAny>(self, 1u << dim, keepdim, out);
}

template <bool kAny>
Status DecideDims(const Tensor& self, const IntList* dim, bool keepdim, Tensor& out) {
  uint32_t reduced;
  CORTEX_M_RETURN_IF_ERROR(ReducedDims(dim, self.rank, false, reduced));
  return Decide<kAny>(self, reduced, keepdim, out);
}

}  // namespace

Status aten::any_out(KernelContext&, const Tensor& self, int64_t dim, bool keepdim, Tensor& out) {
  return DecideDim<true>(self, dim, keepdim, out);
}
Status aten::any_dims_out(KernelContext&, const Tensor& self, const IntList* dim, bool keepdim, Tensor& out) {
  return DecideDims<true>(self, dim, keepdim, out);
}
Status aten::any_all_out(KernelContext&, const Tensor& self, Tensor& out) {
  return DecideDims<true>(self, nullptr, false, out);
}
Status aten::all_out(KernelContext&, const Tensor& self, int64_t dim, bool keepdim, Tensor& out) {
  return DecideDim<false>(self, dim, keepdim, out);
}
Status aten::all_dims_out(KernelContext&, const Tensor& self, const IntList* dim, bool keepdim, Tensor& out) {
  return DecideDims<false>(self, dim, keepdim, out);
}
Status aten::all_all_out(KernelContext&, const Tensor& self, Tensor& out) {
  return DecideDims<false>(self, nullptr, false, out);
}

}  // namespace cortex_m
