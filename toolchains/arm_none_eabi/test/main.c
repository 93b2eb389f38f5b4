#include "toolchains/arm_none_eabi/test/sample.h"

volatile int sink;

int main(void) {
  sink = sample_sum(4) + (int)sample_scale(2.0f) + sample_place()[0];
  for (;;) {
  }
}
