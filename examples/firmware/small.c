// The smallest program around a model: it reads a block of features, and returns the number of the word.
#include "keywords.h"

// Of some driver; here nobody fills it.
volatile float features[KEYWORDS_INPUT_0_SIZE];

int main(void) {
  if (!keywords_init()) {
    return 100;
  }
  for (size_t i = 0; i < KEYWORDS_INPUT_0_SIZE; ++i) {
    keywords_input_0()[i] = features[i];
  }
  if (!keywords_run()) {
    return 101;
  }
  int best = 0;
  for (int i = 1; i < KEYWORDS_OUTPUT_0_SIZE; ++i) {
    if (keywords_output_0()[i] > keywords_output_0()[best]) {
      best = i;
    }
  }
  return best;
}
