// What a firmware does with the model: start, fill the input, run, read the output.
#include "cortex_m/boards/print.h"
#include "gesture.h"

int main(void) {
  if (!gesture_init()) {
    print_text(gesture_error());
    return 1;
  }
  float* const acceleration = gesture_input_0();
  for (int i = 0; i < GESTURE_INPUT_0_SIZE; ++i) acceleration[i] = (float)(i % 7 - 3);
  if (!gesture_run()) {
    print_text(gesture_error());
    return 1;
  }
  const float* const scores = gesture_output_0();
  int best = 0;
  for (int i = 1; i < GESTURE_OUTPUT_0_SIZE; ++i) best = scores[i] > scores[best] ? i : best;
  print_text("gesture: ");
  print_decimal(best);
  print_text("\n");
  return 0;
}
