// The seal: target and checksum behind a program, so that a damaged file is refused even where it is still a valid program,
// and one for other cores before it runs slowly or not at all.
//
// A flipped bit in a weight gives another network, which no check of structure can see. cortex_m/seal.py, which the exporter
// calls, appends 32 bytes: the target's name, "cortex-m55" or "any", filled up with zeros to 16 bytes; the number of the
// instruction set that the program is for and that of its core's widest (cortex_m_nn_isa, or 255 for any); two zeros;
// "cm-seal2"; and the CRC-32 (IEEE 802.3, as zlib's) of everything before "cm-seal2", little-endian.
// Programs of other exporters have no seal and need none. CRC-32 finds every single flipped bit and every burst of 32.
//
// A seal cannot be lost by a few flipped bits: 8 bytes that are nearly its magic are a damaged seal, and bytes behind the last
// data segment that are no seal are refused (no single bit of the header moves the file's end by 32). The first form of the
// seal, "cm-seal1" without a target, is refused with a sentence of its own.
#ifndef CORTEX_M_RUNTIME_SEAL_H_
#define CORTEX_M_RUNTIME_SEAL_H_

#include <cstddef>
#include <cstdint>

#include "cortex_m/runtime/status.h"
#include "cortex_m/runtime/target.h"
#include "cortex_m/runtime/tensor.h"

namespace cortex_m {

constexpr size_t kSealBytes = 32;

// IEEE 802.3, as zlib's.
uint32_t Crc32(Span<const uint8_t> bytes);

// True for a damaged one, too.
bool HasSeal(Span<const uint8_t> file);
// For a file that has a seal: whether it is that of the bytes before it.
Status VerifySeal(Span<const uint8_t> file);

// For a file whose seal was verified: what it was exported for. Fails for a target that no exporter writes.
Status ReadTarget(Span<const uint8_t> file, Target& target);

}  // namespace cortex_m

#endif  // CORTEX_M_RUNTIME_SEAL_H_
