// The seal: a checksum behind a program, so that a damaged file is refused even where it is still a valid program.
//
// A flipped bit in a weight gives another network, which no check of structure can see. cortex_m/seal.py, which the exporter
// calls, appends 12 bytes: "cm-seal1" and the CRC-32 (IEEE 802.3, as zlib's) of everything before it, little-endian.
// Programs of other exporters have no seal and need none. CRC-32 finds every single flipped bit and every burst of 32.
//
// A seal cannot be lost by a few flipped bits: 8 bytes that are nearly its magic are a damaged seal, and bytes behind the last
// data segment that are no seal are refused (no single bit of the header moves the file's end by 12).
#ifndef CORTEX_M_RUNTIME_SEAL_H_
#define CORTEX_M_RUNTIME_SEAL_H_

#include <cstddef>
#include <cstdint>

#include "cortex_m/runtime/status.h"
#include "cortex_m/runtime/tensor.h"

namespace cortex_m {

constexpr size_t kSealBytes = 12;

// True for a damaged one, too.
bool HasSeal(Span<const uint8_t> file);
// For a file that has a seal: whether it is that of the bytes before it.
Status VerifySeal(Span<const uint8_t> file);

}  // namespace cortex_m

#endif  // CORTEX_M_RUNTIME_SEAL_H_
