// A firmware with two models: keywords in a stretch of sound, by the functions for C, and unusual noise, by those for C++
// (anomaly.cc). They share working memory, so each is fed, run and read before the other.
//
// Start-up, linker script and console are the board's; nothing here depends on which it is.
#include <string.h>

#include "anomaly.h"
#include "checksum.h"
#include "console.h"
#include "keywords.h"
#include "keywords_sample.h"

static int fail(const char* what) {
  console_text("error: ");
  console_text(what);
  console_text("\n");
  return 1;
}

// Which of the words it is, most likely.
static int best(const float* scores) {
  int best = 0;
  for (int i = 1; i < KEYWORDS_OUTPUT_0_SIZE; ++i) {
    if (scores[i] > scores[best]) {
      best = i;
    }
  }
  return best;
}

static bool listen(void) {
  memcpy(keywords_input_0(), keywords_sample, KEYWORDS_INPUT_0_BYTES);
  if (!keywords_run()) {
    return false;
  }
  const float* scores = keywords_output_0();
  console_text("keyword: ");
  console_number(best(scores));
  console_text("\nkeyword scores: ");
  console_hex(checksum(scores, KEYWORDS_OUTPUT_0_BYTES));
  console_text("\n");
  return true;
}

int main(void) {
  if (!keywords_init()) {
    return fail(keywords_error());
  }
  if (!anomaly_start()) {
    return fail(anomaly_why());
  }
  if (!listen()) {
    return fail(keywords_error());
  }
  if (!anomaly_check()) {
    return fail(anomaly_why());
  }
  // Once more: that the other model has used the arena meanwhile changes nothing.
  if (!listen()) {
    return fail(keywords_error());
  }
  return 0;
}
