// Unusual noise of a machine: an autoencoder knows the usual noises, and reproduces others badly.
#ifndef EXAMPLES_FIRMWARE_ANOMALY_H_
#define EXAMPLES_FIRMWARE_ANOMALY_H_

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

bool anomaly_start(void);
// Prints how far the reproduction of the sample is from it.
bool anomaly_check(void);
// What went wrong.
const char* anomaly_why(void);

#ifdef __cplusplus
}
#endif

#endif  // EXAMPLES_FIRMWARE_ANOMALY_H_
