// Reads a whole .pte file into memory that is aligned as Program::Load wants it. Host only.
#ifndef CORTEX_M_RUNTIME_PROGRAM_FILE_H_
#define CORTEX_M_RUNTIME_PROGRAM_FILE_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <new>
#include <string>
#include <vector>

#include "cortex_m/runtime/program.h"

namespace cortex_m {

// Bytes of exactly `size`, aligned to kDataAlignment; a sanitizer sees any access behind the last one.
class AlignedBytes {
 public:
  AlignedBytes() = default;
  explicit AlignedBytes(const std::string& bytes)
      : bytes_(new (std::align_val_t{kDataAlignment}) uint8_t[bytes.size()]) {
    size_ = bytes.size();
    if (size_ > 0) std::memcpy(bytes_, bytes.data(), size_);
  }
  AlignedBytes(const AlignedBytes&) = delete;
  AlignedBytes& operator=(const AlignedBytes&) = delete;
  ~AlignedBytes() { ::operator delete[](bytes_, std::align_val_t{kDataAlignment}); }

  Span<uint8_t> span() const { return {bytes_, size_}; }
  Span<const uint8_t> bytes() const { return {bytes_, size_}; }

 private:
  uint8_t* bytes_ = nullptr;
  size_t size_ = 0;
};

// False if the file cannot be read.
inline bool ReadFile(const char* path, std::string& bytes) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return false;
  bytes.assign(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  return !file.bad();
}

}  // namespace cortex_m

#endif  // CORTEX_M_RUNTIME_PROGRAM_FILE_H_
