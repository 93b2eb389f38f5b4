// The generated table of all operators: each is callable, and each refuses a call it does not understand.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "cortex_m/runner/kernels.h"
#include "cortex_m/runtime/kernel.h"

namespace cortex_m {
namespace {

TEST(KernelTable, NamesAreThoseOfPrograms) {
  std::set<std::string> names;
  for (const Kernel& kernel : LinkedKernels()) {
    const std::string name = kernel.name;
    EXPECT_NE(name.find("::"), std::string::npos) << name;
    EXPECT_TRUE(names.insert(name).second) << name;
  }
  EXPECT_EQ(names.count("cortex_m::quantized_add.out"), 1u);
  EXPECT_EQ(names.count("cortex_m::quantized_conv2d_nhwc.out"), 1u);
  EXPECT_EQ(names.count("aten::cat.out"), 1u);
  EXPECT_EQ(names.count("dim_order_ops::_clone_dim_order.out"), 1u);
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
