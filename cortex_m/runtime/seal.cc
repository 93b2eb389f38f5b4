#include "cortex_m/runtime/seal.h"

#include <cstring>

namespace cortex_m {
namespace {

constexpr char kMagic[] = "cm-seal1";
constexpr size_t kMagicBytes = 8;
// Of 64. Other bytes come as near as this with a probability of 3e-10 (the sum of the binomials, by 2^64).
constexpr int kNearBits = 8;

// The CRC of each byte for the reflected polynomial of IEEE 802.3.
struct CrcTable {
  uint32_t of[256] = {};
  constexpr CrcTable() {
    for (uint32_t byte = 0; byte < 256; ++byte) {
      uint32_t crc = byte;
      for (int bit = 0; bit < 8; ++bit) crc = (crc & 1) != 0 ? crc >> 1 ^ 0xedb88320u : crc >> 1;
      of[byte] = crc;
    }
  }
};
constexpr CrcTable kCrc;

uint32_t Crc32(Span<const uint8_t> bytes) {
  uint32_t crc = ~0u;
  for (const uint8_t byte : bytes) crc = kCrc.of[(crc ^ byte) & 0xff] ^ crc >> 8;
  return ~crc;
}

}  // namespace

bool HasSeal(Span<const uint8_t> file) {
  if (file.size < kSealBytes) return false;
  const uint8_t* magic = file.data + file.size - kSealBytes;
  int different = 0;
  for (size_t i = 0; i < kMagicBytes; ++i) {
    for (int bits = magic[i] ^ kMagic[i]; bits != 0; bits &= bits - 1) ++different;
  }
  return different <= kNearBits;
}

Status VerifySeal(Span<const uint8_t> file) {
  const uint8_t* seal = file.data + file.size - kSealBytes;
  const uint8_t* stored = seal + kMagicBytes;
  const uint32_t expected = stored[0] | stored[1] << 8 | stored[2] << 16 | static_cast<uint32_t>(stored[3]) << 24;
  if (std::memcmp(seal, kMagic, kMagicBytes) == 0 && Crc32({file.data, file.size - kSealBytes}) == expected) return Status();
  return Status(Code::kInvalidProgram, "the program is damaged: its checksum is not that of its bytes");
}

}  // namespace cortex_m
