// Programs that exir emitted, run and compared with what PyTorch computed (testing/export_programs.py). The few operators that
// they call are written here, for float tensors of any contiguous shape.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "cortex_m/runtime/loaded_method.h"
#include "cortex_m/runtime/testing/kernels.h"

namespace cortex_m {
namespace {

Status AddOut(KernelContext& context, const Tensor& self, const Tensor& other, Scalar alpha, const Tensor& out) {
  return alpha.ToDouble() == 1 ? testing::add_out(context, self, other, out) : context.Fail("alpha is not 1");
}

Status MulOut(KernelContext&, const Tensor& self, const Tensor& other, const Tensor& out) {
  for (size_t i = 0; i < ElementCount(out); ++i)
    out.mutable_as<float>()[i] = self.as<float>()[i] * other.as<float>()[i];
  return Status();
}

Status CopyInPlace(KernelContext& context, Tensor& self, const Tensor& source, bool) {
  return testing::copy_out(context, source, self);
}

// Rank 2, dim 1: the largest number of each row, and where it stands.
Status MaxDim(KernelContext& context, const Tensor& self, int64_t dim, bool keepdim, const Tensor& max,
              const Tensor& indices) {
  if (self.rank != 2 || dim != 1 || keepdim) return context.Fail("only rows of a matrix");
  for (int row = 0; row < self.sizes[0]; ++row) {
    int best = 0;
    const float* numbers = self.as<float>() + row * self.sizes[1];
    for (int i = 1; i < self.sizes[1]; ++i) best = numbers[i] > numbers[best] ? i : best;
    max.mutable_as<float>()[row] = numbers[best];
    indices.mutable_as<int64_t>()[row] = best;
  }
  return Status();
}

// Columns [first, first + tensor's columns) of `wide`, copied to or from `tensor`.
void CopyColumns(const Tensor& wide, int first, const Tensor& tensor, bool to_tensor) {
  for (int row = 0; row < tensor.sizes[0]; ++row) {
    float* part = tensor.mutable_as<float>() + row * tensor.sizes[1];
    float* whole = wide.mutable_as<float>() + row * wide.sizes[1] + first;
    std::memcpy(to_tensor ? part : whole, to_tensor ? whole : part,
                static_cast<size_t>(tensor.sizes[1]) * sizeof(float));
  }
}

Status Split(KernelContext& context, const Tensor& self, IntList sizes, int64_t dim, Span<const Tensor> out) {
  if (dim != 1 || sizes.size != out.size) return context.Fail("only columns of a matrix");
  int first = 0;
  for (size_t i = 0; i < out.size; ++i) {
    if (out[i].sizes[1] != sizes[i]) return context.Fail("sizes disagree");
    CopyColumns(self, first, out[i], true);
    first += out[i].sizes[1];
  }
  return Status();
}

Status Cat(KernelContext& context, Span<const Tensor> tensors, int64_t dim, const Tensor& out) {
  if (dim != 1) return context.Fail("only columns of a matrix");
  int first = 0;
  for (const Tensor& tensor : tensors) {
    CopyColumns(out, first, tensor, false);
    first += tensor.sizes[1];
  }
  return Status();
}

Status LongToFloat(KernelContext& context, const Tensor& self, bool, const IntList*, const Tensor& out) {
  if (self.dtype != ScalarType::kLong || out.dtype != ScalarType::kFloat) return context.Fail("only int64 to float");
  for (size_t i = 0; i < ElementCount(out); ++i) out.mutable_as<float>()[i] = static_cast<float>(self.as<int64_t>()[i]);
  return Status();
}

constexpr Kernel kKernels[] = {
    {"aten::add.out", Boxed<AddOut>},
    {"aten::mul.out", Boxed<MulOut>},
    {"aten::copy_", Boxed<CopyInPlace>},
    {"aten::max.dim_max", Boxed<MaxDim>},
    {"aten::split_with_sizes_copy.out", Boxed<Split>},
    {"aten::cat.out", Boxed<Cat>},
    {"dim_order_ops::_to_dim_order_copy.out", Boxed<LongToFloat>},
};

using Floats = std::vector<float>;

struct OneRun {
  std::vector<Floats> inputs;
  std::vector<Floats> outputs;
};
struct Exported {
  const char* name;
  std::vector<OneRun> runs;
};

const Exported kExported[] = {
#include "cortex_m/runtime/testing/exported_programs.inc"
};

std::string Folder() {
  const char* runfiles = std::getenv("TEST_SRCDIR");
  const char* workspace = std::getenv("TEST_WORKSPACE");
  return std::string(runfiles) + "/" + workspace + "/cortex_m/runtime/testing/";
}

void Set(const Value& input, const Floats& numbers) {
  ASSERT_EQ(ElementCount(input.as_tensor), numbers.size());
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (input.as_tensor.dtype == ScalarType::kBool) {
      input.as_tensor.mutable_as<bool>()[i] = numbers[i] != 0;
    } else {
      input.as_tensor.mutable_as<float>()[i] = numbers[i];
    }
  }
}

class ExportedTest : public ::testing::TestWithParam<Exported> {};

TEST_P(ExportedTest, ComputesWhatPyTorchDoes) {
  std::string file;
  ASSERT_TRUE(ReadFile((Folder() + GetParam().name + ".pte").c_str(), file));
  LoadedMethod loaded(file, {kKernels, sizeof(kKernels) / sizeof(kKernels[0])}, "forward");
  ASSERT_TRUE(loaded.status.ok()) << loaded.status.message();
  Method& method = loaded.method;
  std::vector<OneRun> runs = GetParam().runs;
  const size_t until_reset = runs.size();
  runs.insert(runs.end(), GetParam().runs.begin(), GetParam().runs.end());
  size_t done = 0;
  for (const OneRun& run : runs) {
    if (done++ == until_reset) method.Reset(loaded.program);
    ASSERT_EQ(method.input_count(), run.inputs.size());
    ASSERT_EQ(method.output_count(), run.outputs.size());
    for (size_t i = 0; i < run.inputs.size(); ++i) Set(method.input(i), run.inputs[i]);
    const Status status = method.Execute();
    ASSERT_TRUE(status.ok()) << status.message() << " at " << status.index() << ", " << status.argument();
    for (size_t i = 0; i < run.outputs.size(); ++i) {
      const Tensor& tensor = method.output(i).as_tensor;
      const float* data = tensor.as<float>();
      EXPECT_EQ(Floats(data, data + ElementCount(tensor)), run.outputs[i]);
    }
  }
}

std::string NameOf(const ::testing::TestParamInfo<Exported>& info) { return info.param.name; }

INSTANTIATE_TEST_SUITE_P(Programs, ExportedTest, ::testing::ValuesIn(kExported), NameOf);

}  // namespace
}  // namespace cortex_m
