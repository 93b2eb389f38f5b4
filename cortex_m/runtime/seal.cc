#include "cortex_m/runtime/seal.h"

#include <cstring>

#include "cortex_m/nn/isa.h"

namespace cortex_m {
namespace {

constexpr char kMagic[] = "cm-seal2";
constexpr char kOldMagic[] = "cm-seal1";  // within kNearBits of the other
constexpr size_t kMagicBytes = 8;
constexpr size_t kNameBytes = 16;
constexpr size_t kCheckedBytes = kMagicBytes + 4;  // magic and checksum, which the checksum does not cover
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

}  // namespace

uint32_t Crc32(Span<const uint8_t> bytes) {
  uint32_t crc = ~0u;
  for (const uint8_t byte : bytes) crc = kCrc.of[(crc ^ byte) & 0xff] ^ crc >> 8;
  return ~crc;
}

bool HasSeal(Span<const uint8_t> file) {
  if (file.data == nullptr || file.size < kSealBytes) return false;
  const uint8_t* magic = file.data + file.size - kCheckedBytes;
  int different = 0;
  for (size_t i = 0; i < kMagicBytes; ++i) {
    for (int bits = magic[i] ^ kMagic[i]; bits != 0; bits &= bits - 1) ++different;
  }
  return different <= kNearBits;
}

Status VerifySeal(Span<const uint8_t> file) {
  const Span<const uint8_t> content = {file.data, file.size - kCheckedBytes};
  const uint8_t* magic = content.data + content.size;
  const uint8_t* stored = magic + kMagicBytes;
  const uint32_t expected = stored[0] | stored[1] << 8 | stored[2] << 16 | static_cast<uint32_t>(stored[3]) << 24;
  if (std::memcmp(magic, kOldMagic, kMagicBytes) == 0) {
    return Status(Code::kUnsupported,
                  "the program was sealed by an older exporter, which named no target: export it again");
  }
  if (std::memcmp(magic, kMagic, kMagicBytes) == 0 && Crc32(content) == expected) return Status();
  return Status(Code::kInvalidProgram, "the program is damaged: its checksum is not that of its bytes");
}

Status ReadTarget(Span<const uint8_t> file, Target& target) {
  const uint8_t* record = file.data + file.size - kSealBytes;
  target = {reinterpret_cast<const char*>(record), record[kNameBytes], record[kNameBytes + 1]};
  const bool any = target.isa == kAnyIsa && target.core_isa == kAnyIsa;
  const bool known = target.isa <= CORTEX_M_NN_ISA_SCALAR && target.core_isa <= target.isa;  // widest first
  if (record[kNameBytes - 1] == 0 && (any || known)) return Status();
  return Status(Code::kUnsupported, "the program's seal names a target that this runtime does not know");
}

}  // namespace cortex_m
