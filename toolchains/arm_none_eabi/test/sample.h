/* Calls that draw on what the toolchain must get right: libstdc++, a static object, the place of a source file. */
#ifndef TOOLCHAINS_ARM_NONE_EABI_TEST_SAMPLE_H_
#define TOOLCHAINS_ARM_NONE_EABI_TEST_SAMPLE_H_

#ifdef __cplusplus
extern "C" {
#endif

int sample_sum(int n);
float sample_scale(float x);
const char* sample_place(void);
int sample_unused(void);

#ifdef __cplusplus
}
#endif

#endif  // TOOLCHAINS_ARM_NONE_EABI_TEST_SAMPLE_H_
