// As strided_copy.h, between different element types.
#ifndef CORTEX_M_PORTABLE_STRIDED_CONVERT_H_
#define CORTEX_M_PORTABLE_STRIDED_CONVERT_H_

#include "cortex_m/portable/loops.h"
#include "cortex_m/runtime/tensor.h"

namespace cortex_m::portable {

// Operand 0 of `loops` is `out`, operand 1 is `in`; both point at the element of the first turn. Types that Check()
// takes; conversions as in convert.h. Moves bytes, of any type, if the two types are the same.
void ConvertStrided(const Loops& loops, void* out, ScalarType out_type, const void* in, ScalarType in_type);

}  // namespace cortex_m::portable

#endif  // CORTEX_M_PORTABLE_STRIDED_CONVERT_H_
