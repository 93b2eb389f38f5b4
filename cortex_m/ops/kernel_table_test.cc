// The generated table of all operators: each is callable, and each refuses a call it does not understand.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "cortex_m/runtime/kernel.h"

namespace cortex_m {

KernelTable LinkedKernels();

namespace {

TEST(KernelTable, NamesAreThoseOfPrograms) {
  std::set<std::string> names;
  for (const Kernel& kernel : LinkedKernels()) {
    const std::string name = kernel.name;
    EXPECT_EQ(name.rfind("cortex_m::", 0), 0u) << name;
    EXPECT_EQ(name.substr(name.size() - 4), ".out") << name;
    EXPECT_TRUE(names.insert(name).second) << name;
  }
  EXPECT_EQ(names.count("cortex_m::quantized_add.out"), 1u);
  EXPECT_EQ(names.count("cortex_m::quantized_conv2d_nhwc.out"), 1u);
  EXPECT_GE(names.size(), 16u);
}

TEST(KernelTable, WrongArgumentsAreRefused) {
  for (const Kernel& kernel : LinkedKernels()) {
    KernelContext context;
    EXPECT_EQ(kernel.function(context, {}).code(), Code::kInvalidArgument) << kernel.name;
    Value none[16];
    for (size_t count = 1; count <= 16; ++count) {  // None is no tensor
      EXPECT_EQ(kernel.function(context, {none, count}).code(), Code::kInvalidArgument) << kernel.name;
    }
  }
}

}  // namespace
}  // namespace cortex_m
