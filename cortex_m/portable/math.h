// Elementary functions that give the same bits on every core and on the host.
//
// The C library's do not: newlib, picolibc and versions of glibc differ in the last place, and some use fused
// multiply-add where the processor has it. These are polynomials and rational functions in float64 with nothing but + -
// * / and comparisons, which IEEE 754 defines to the bit; they are compiled with contraction off (see
// build_options.bzl). The error before the result is rounded to float32 is below 1e-12 of it, so that a float32 result
// is almost always the nearest one, and at most 0.5001 units in the last place away.
//
// A core without double precision computes float64 in software: some hundreds to a few thousand instructions a call. It
// is the price of equality; int8 models use tables instead (cortex_m::quantized_activation).
//
// sqrt, floor, ceil, trunc, rint and fmod are exact everywhere: the C library's are used.
#ifndef CORTEX_M_PORTABLE_MATH_H_
#define CORTEX_M_PORTABLE_MATH_H_

// Contraction of a * b + c would change bits on cores with fused multiply-add, and GCC does it unless told otherwise.
// The flag has no macro of its own: build_options.bzl defines this one beside it.
#ifndef CORTEX_M_EXACT_FLOAT
#error "compile the portable kernels with the options of cortex_m/portable/build_options.bzl"
#endif

namespace cortex_m::portable {

// Arguments are float32 values, or float64 results of others of these functions.
double Exp(double x);
double Expm1(double x);
double Log(double x);  // of a negative number NaN, of zero -inf; so are the next four
double Log2(double x);
double Log10(double x);
double Log1p(double x);
double Sin(double x);  // any float32
double Cos(double x);
double Tan(double x);
double Sinh(double x);
double Cosh(double x);
double Tanh(double x);
double Asin(double x);
double Acos(double x);
double Atan(double x);
double Atan2(double y, double x);
double Asinh(double x);
double Acosh(double x);
double Atanh(double x);
double Erf(double x);
double Erfc(double x);
double Sigmoid(double x);
// As C's pow, for float32 arguments.
double Pow(double x, double y);

}  // namespace cortex_m::portable

#endif  // CORTEX_M_PORTABLE_MATH_H_
