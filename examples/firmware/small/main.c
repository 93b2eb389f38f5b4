// The smallest program around a model: features of a second of sound come in by the serial port, as float32; what goes out is
// the number of the keyword, as a digit and a letter more than nine, and "!" where the model failed.
#include "board.h"
#include "keywords.h"

static char answer(void) {
  unsigned char* features = (unsigned char*)keywords_input_0();
  for (size_t i = 0; i < KEYWORDS_INPUT_0_BYTES; ++i) {
    features[i] = serial_read();
  }
  if (!keywords_run()) {
    return '!';
  }
  int best = 0;
  for (int i = 1; i < KEYWORDS_OUTPUT_0_SIZE; ++i) {
    if (keywords_output_0()[i] > keywords_output_0()[best]) {
      best = i;
    }
  }
  return "0123456789abcdefghijklmnopqrstuvwxyz"[best];
}

int main(void) {
  if (!keywords_init()) {
    serial_write('!');
    return 1;
  }
  for (;;) {
    serial_write(answer());
  }
}
