#include "cortex_m/runner/profile.h"

#include "cortex_m/boards/platform.h"
#include "cortex_m/boards/print.h"
#include "cortex_m/runner/files.h"

namespace cortex_m {
namespace {

struct Profile {
  const Method& method;
  uint64_t begin = 0;

  static void Notify(void* context, int32_t instruction, Phase phase) {
    Profile& profile = *static_cast<Profile*>(context);
    if (phase == Phase::kBegin) {
      profile.begin = platform_instructions();
      return;
    }
    const uint64_t spent = platform_instructions() - profile.begin;
    const char* name = profile.method.operator_name(instruction);
    print_text("instruction ");
    print_decimal(instruction);
    print_text(" ");
    PrintName(name == nullptr ? "control" : name);
    print_text(": ");
    print_decimal(static_cast<int64_t>(spent));
    print_text("\n");
  }
};

}  // namespace

Status PrintProfile(Method& method) {
  Profile profile{method};
  method.set_observer({Profile::Notify, &profile});
  const Status status = method.Execute();
  method.set_observer({});
  return status;
}

}  // namespace cortex_m
