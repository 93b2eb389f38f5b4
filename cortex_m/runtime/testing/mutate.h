// Changes programs as somebody would who knows the format: other arguments, places, shapes, types and numbers, and a few bytes.
#ifndef CORTEX_M_RUNTIME_TESTING_MUTATE_H_
#define CORTEX_M_RUNTIME_TESTING_MUTATE_H_

#include <cstdint>
#include <random>
#include <string>

#include "cortex_m/runtime/schema.h"

namespace cortex_m {

class Mutator {
 public:
  explicit Mutator(uint64_t seed) : random_(seed) {}

  // `file`: a program that loads. Some of the results still do; a part of them is sealed.
  std::string Mutated(const std::string& file);

  // `file` with each number of it, an int or a double, at each end of its range, one at a time: how many such there are, and one of
  // them. Sums and products overflow there, if they can.
  static size_t ExtremeCount(const std::string& file);
  static std::string Extreme(const std::string& file, size_t index);

 private:
  size_t Below(size_t bound) { return bound == 0 ? 0 : random_() % bound; }
  bool OneIn(size_t chances) { return Below(chances) == 0; }
  int64_t Number(int64_t old);
  double Real();
  int32_t AnyValue(const fbs::ExecutionPlanT& plan) { return static_cast<int32_t>(Below(plan.values.size())); }
  fbs::TensorT* AnyTensor(fbs::ExecutionPlanT& plan);

  void Change(fbs::ProgramT& program, std::string& segments);
  void ChangeInstruction(fbs::ExecutionPlanT& plan);
  void ChangeTensor(fbs::ExecutionPlanT& plan);
  void ChangeValue(fbs::ExecutionPlanT& plan);
  void ChangeBytes(std::string& bytes);

  std::mt19937_64 random_;
};

}  // namespace cortex_m

#endif  // CORTEX_M_RUNTIME_TESTING_MUTATE_H_
