// arange: start, start + step, ... below end (above it, for a negative step).
//
// Element i is start + i * step, computed in float64 and then rounded, for a float tensor; in int64 for an integer
// tensor.

#include "cortex_m/portable/check.h"
#include "cortex_m/portable/convert.h"
#include "cortex_m/portable/declarations.h"
#include "cortex_m/portable/loops.h"

namespace cortex_m {
namespace {

using namespace portable;

// ceil((end - start) / step), or -1 if there is none.
int64_t CountOfInts(int64_t start, int64_t end, int64_t step) {
  const double wide = (static_cast<double>(end) - static_cast<double>(start)) / static_cast<double>(step);
  if (wide < 0) return -1;
  if (wide > 2147483647.0) return -1;
  const int64_t distance = step > 0 ? end - start : start - end;
  const int64_t stride = step > 0 ? step : -step;
  return distance == 0 ? 0 : (distance - 1) / stride + 1;
}

int64_t CountOfDoubles(double start, double end, double step) {
  const double wide = (end - start) / step;
  if (!(wide >= 0) || wide > 2147483647.0) return -1;
  const int64_t whole = static_cast<int64_t>(wide);
  return static_cast<double>(whole) < wide ? whole + 1 : whole;
}

Status Arange(Scalar start, Scalar end, Scalar step, Tensor& out) {
  CORTEX_M_RETURN_IF_ERROR(Check(out));
  if (out.dtype == ScalarType::kBool) return Refuse("arange does not make bools");
  if (out.rank != 1) return Refuse(kWrongOutSizes);
  const bool ints = start.tag != Tag::kDouble && end.tag != Tag::kDouble && step.tag != Tag::kDouble;
  if (ScalarAs<float>(step) == 0) return Refuse("the step of arange must not be zero");
  const int64_t count = ints ? CountOfInts(ScalarAs<int64_t>(start), ScalarAs<int64_t>(end), ScalarAs<int64_t>(step))
                             : CountOfDoubles(start.ToDouble(), end.ToDouble(), step.ToDouble());
  if (count < 0) return Refuse("the bounds of arange do not agree with the sign of its step");
  if (count != out.sizes[0]) return Refuse(kWrongOutSizes);
  for (int32_t i = 0; i < out.sizes[0]; ++i) {
    if (IsFloat(out.dtype)) {
      const float value = static_cast<float>(start.ToDouble() + step.ToDouble() * i);
      Store(&value, 1, out.dtype, out.data, i, 1);
    } else {
      const uint64_t first = static_cast<uint64_t>(ScalarAs<int64_t>(start));
      const int64_t value =
          static_cast<int64_t>(first + static_cast<uint64_t>(ScalarAs<int64_t>(step)) * static_cast<uint64_t>(i));
      Store(&value, 1, out.dtype, out.data, i, 1);
    }
  }
  return Status();
}

}  // namespace

Status aten::arange_out(KernelContext&, Scalar end, Tensor& out) {
  return Arange(IntScalar(0), end, IntScalar(1), out);
}
Status aten::arange_start_out(KernelContext&, Scalar start, Scalar end, Scalar step, Tensor& out) {
  return Arange(start, end, step, out);
}

}  // namespace cortex_m
