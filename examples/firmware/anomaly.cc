#include "anomaly.h"

#include <cstring>

#include "anomaly_detector.h"
#include "anomaly_sample.h"
#include "checksum.h"
#include "console.h"

namespace {

using Features = anomaly_detector::Input<0>;
using Reproduction = anomaly_detector::Output<0>;
static_assert(Features::kSize == Reproduction::kSize, "an autoencoder gives what it takes");

}  // namespace

bool anomaly_start(void) { return anomaly_detector::Init(); }

bool anomaly_check(void) {
  std::memcpy(anomaly_detector::input(), anomaly_sample, Features::kBytes);
  if (!anomaly_detector::Run()) return false;

  const Reproduction::Type* reproduction = anomaly_detector::output();
  float distance = 0;
  for (size_t i = 0; i < Features::kSize; ++i) {
    // Not from the input: the arena's memory of it may serve other tensors by now.
    float feature;
    std::memcpy(&feature, anomaly_sample + i * sizeof feature, sizeof feature);
    distance += (feature - reproduction[i]) * (feature - reproduction[i]);
  }
  console_text("distance, thousandths: ");
  console_number(static_cast<int32_t>(1000 * distance / Features::kSize));
  console_text("\nreproduction: ");
  console_hex(checksum(reproduction, Reproduction::kBytes));
  console_text("\n");
  return true;
}

const char* anomaly_why(void) { return anomaly_detector::error(); }
