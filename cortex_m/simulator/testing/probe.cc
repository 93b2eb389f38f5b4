// A program that misbehaves on request: what the tests of boards and simulator run. Built for the host it shows that the
// host board keeps the same contract.
//
//   probe COMMAND [ARGUMENT...]
#include <cstdint>
#include <cstring>

#include "cortex_m/boards/platform.h"
#include "cortex_m/boards/print.h"

extern "C" const char* cortex_m_fault_context(int* index) {
  *index = 7;
  return "cortex_m::probe.out";
}

namespace {

volatile uint32_t sink;

// Runs only if constructors run; volatile, so that the compiler cannot do it at build time.
volatile int seed = 20;
struct Constructed {
  Constructed() : value(seed + 1) {}
  int value;
};
Constructed constructed;
int preinit_runs = 0;
void Preinit() { ++preinit_runs; }
__attribute__((section(".preinit_array"), used)) void (*const preinit_entry)() = Preinit;

volatile int32_t initialised[3] = {1, -2, 3};
volatile int32_t zeroed[300];

int64_t ParseDecimal(const char* text) {
  int64_t value = 0;
  for (; *text >= '0' && *text <= '9'; ++text) {
    value = value * 10 + (*text - '0');
  }
  return value;
}

void PrintLine(const char* key, int64_t value) {
  print_text(key);
  print_text(": ");
  print_decimal(value);
  print_text("\n");
}

// 2 * count instructions.
void Spin(uint32_t count) {
#if defined(__arm__)
  __asm__ volatile(
      "1: subs %0, %0, #1\n\t"
      "bne 1b"
      : "+r"(count)::"cc");
#else
  sink = count;
#endif
}

int Recurse(int depth) {
  volatile uint32_t frame[16];
  frame[depth & 15] = static_cast<uint32_t>(depth);
  sink = frame[0];
  return depth < 0 ? 0 : Recurse(depth + 1) + static_cast<int>(frame[depth & 15]);
}

int BigFrame() {
  volatile uint8_t frame[1 << 20];
  frame[0] = 1;
  return frame[0] + frame[sizeof frame - 1];
}

__attribute__((noinline)) void UseStack() {
  volatile uint8_t local[5000];
  for (volatile uint8_t& byte : local) {
    byte = 1;
  }
}

int Touch(uintptr_t address) {
  *reinterpret_cast<volatile uint32_t*>(address) = 1;
  return 0;
}

float Mix(float a, float b) { return a * b + 0.25f; }

int Copy(const char* from, const char* to) {
  static uint8_t buffer[4096];
  const PlatformFile input = platform_open(from, kPlatformRead);
  if (input < 0) {
    print_text("error: cannot open ");
    print_text(from);
    print_text("\n");
    return 1;
  }
  PrintLine("length", platform_length(input));
  const PlatformFile output = platform_open(to, kPlatformWrite);
  size_t count;
  while ((count = platform_read(input, buffer, sizeof buffer)) != 0) {
    if (!platform_write_file(output, buffer, count)) {
      return 1;
    }
  }
  return platform_close(input) && platform_close(output) ? 0 : 1;
}

int State() {
  PrintLine("constructed", constructed.value);
  PrintLine("preinit", preinit_runs);
  PrintLine("data", initialised[0] + initialised[1] * 10 + initialised[2] * 100);
  int32_t sum = 0;
  for (volatile int32_t& value : zeroed) {
    sum |= value;
  }
  PrintLine("bss", sum);
  volatile float a = 1.5f;
  volatile float b = -2.0f;
  PrintLine("float", static_cast<int64_t>(Mix(a, b) * 100));
  print_text("board: ");
  print_text(platform_name());
  print_text("\n");
  PrintLine("pool", static_cast<int64_t>(platform_pool().size));
  return 0;
}

int Ticks(uint32_t loops) {
  const uint64_t start = platform_instructions();
  const uint64_t empty = platform_instructions() - start;
  const uint64_t before = platform_instructions();
  Spin(loops);
  const uint64_t spent = platform_instructions() - before;
  PrintLine("overhead", static_cast<int64_t>(empty));
  PrintLine("instructions", static_cast<int64_t>(spent - empty));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    print_text("error: no command\n");
    return 2;
  }
  const char* command = argv[1];
  const char* argument = argc > 2 ? argv[2] : "";
  const auto is = [command](const char* name) { return std::strcmp(command, name) == 0; };
  if (is("exit")) return static_cast<int>(ParseDecimal(argument));
  if (is("fail")) {
    print_text("error: the probe was asked to fail\n");
    return 1;
  }
  if (is("echo")) {
    for (int i = 2; i < argc; ++i) {
      print_text(argv[i]);
      print_text("\n");
    }
    return 0;
  }
  if (is("state")) return State();
  if (is("ticks")) return Ticks(static_cast<uint32_t>(ParseDecimal(argument)));
  if (is("copy") && argc == 4) return Copy(argv[2], argv[3]);
  if (is("stack")) {
    PrintLine("stack size", static_cast<int64_t>(platform_stack_size()));
    PrintLine("stack used", static_cast<int64_t>(platform_stack_used()));
    UseStack();
    PrintLine("stack used", static_cast<int64_t>(platform_stack_used()));
    return 0;
  }
  if (is("hang")) {
    print_text("hanging\n");
    for (;;) {
    }
  }
  if (is("recurse")) return Recurse(0);
  if (is("frame")) return BigFrame();
  if (is("touch")) return Touch(static_cast<uintptr_t>(ParseDecimal(argument)));
  if (is("write_code")) return Touch(reinterpret_cast<uintptr_t>(&Touch) & ~uintptr_t{3});
  if (is("run_data")) {
    static uint16_t code[2] = {0x4770, 0x4770};  // bx lr
    reinterpret_cast<void (*)()>(reinterpret_cast<uintptr_t>(code) | 1)();
    return 0;
  }
#if defined(__arm__)
  if (is("undefined")) __asm__ volatile("udf #0");
#if __ARM_ARCH_ISA_THUMB >= 2  // Armv6-M and Armv8-M Baseline have neither this trap nor FAULTMASK
  if (is("divide")) {
    volatile uint32_t zero = 0;
    uint32_t quotient;
    __asm__ volatile("udiv %0, %1, %2" : "=r"(quotient) : "r"(100), "r"(zero));
    return static_cast<int>(quotient);
  }
  if (is("lockup")) {
    __asm__ volatile("cpsid f\n\tudf #0");
  }
#endif
  if (is("interrupt")) {
    *reinterpret_cast<volatile uint32_t*>(0xE000E100) = 1u << 3;  // NVIC_ISER
    *reinterpret_cast<volatile uint32_t*>(0xE000E200) = 1u << 3;  // NVIC_ISPR
    __asm__ volatile("dsb\n\tisb");
  }
#endif
  print_text("error: unknown command ");
  print_text(command);
  print_text("\n");
  return 2;
}
