// CRC-32 (IEEE 802.3, as zlib's), so that a line on the console tells whether all bytes of an output are right.
#ifndef EXAMPLES_FIRMWARE_CHECKSUM_H_
#define EXAMPLES_FIRMWARE_CHECKSUM_H_

#include <stddef.h>
#include <stdint.h>

static inline uint32_t checksum(const void* bytes, size_t size) {
  uint32_t crc = ~(uint32_t)0;
  for (size_t i = 0; i < size; ++i) {
    crc ^= ((const uint8_t*)bytes)[i];
    for (int bit = 0; bit < 8; ++bit) {
      crc = (crc & 1) != 0 ? crc >> 1 ^ 0xEDB88320u : crc >> 1;
    }
  }
  return ~crc;
}

#endif  // EXAMPLES_FIRMWARE_CHECKSUM_H_
