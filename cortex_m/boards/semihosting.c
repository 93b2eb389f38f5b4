#include "cortex_m/boards/semihosting.h"

#include <stdint.h>
#include <string.h>

#include "cortex_m/boards/platform.h"

// Operation numbers of Arm IHI 0102, chapter 7.
enum {
  kSysOpen = 0x01,
  kSysClose = 0x02,
  kSysWrite0 = 0x04,
  kSysWrite = 0x05,
  kSysRead = 0x06,
  kSysFlen = 0x0C,
  kSysGetCmdline = 0x15,
  kSysExitExtended = 0x20,
};

// Numbers of fopen's modes, table 7-3.
enum { kModeReadBinary = 1, kModeWrite = 4, kModeWriteBinary = 5 };

static const uintptr_t kStoppedApplicationExit = 0x20026;  // ADP_Stopped_ApplicationExit

static intptr_t Call(intptr_t operation, const void* block) {
  register intptr_t r0 __asm__("r0") = operation;
  register const void* r1 __asm__("r1") = block;
  __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
  return r0;
}

static PlatformFile Open(const char* name, uintptr_t mode) {
  const uintptr_t block[] = {(uintptr_t)name, mode, strlen(name)};
  return (PlatformFile)Call(kSysOpen, block);
}

// SYS_READ and SYS_WRITE return how many bytes were NOT transferred.
static size_t Transfer(intptr_t operation, PlatformFile file, const void* data, size_t size) {
  if (size == 0) {
    return 0;
  }
  const uintptr_t block[] = {(uintptr_t)file, (uintptr_t)data, size};
  const size_t left = (size_t)Call(operation, block);
  return left <= size ? size - left : 0;
}

static PlatformFile console = -1;

void semihosting_start(void) { console = Open(":tt", kModeWrite); }

void platform_write(const char* text, size_t size) {
  if (console >= 0) {
    Transfer(kSysWrite, console, text, size);
    return;
  }
  char piece[2] = {0, 0};
  for (size_t i = 0; i < size; ++i) {
    piece[0] = text[i];
    Call(kSysWrite0, piece);
  }
}

void platform_exit(int status) {
  const uintptr_t block[] = {kStoppedApplicationExit, (uintptr_t)status};
  for (;;) {
    Call(kSysExitExtended, block);
  }
}

PlatformFile platform_open(const char* name, PlatformMode mode) {
  return Open(name, mode == kPlatformRead ? kModeReadBinary : kModeWriteBinary);
}

int64_t platform_length(PlatformFile file) {
  const uintptr_t block[] = {(uintptr_t)file};
  return Call(kSysFlen, block);
}

size_t platform_read(PlatformFile file, void* buffer, size_t size) { return Transfer(kSysRead, file, buffer, size); }

bool platform_write_file(PlatformFile file, const void* data, size_t size) {
  return Transfer(kSysWrite, file, data, size) == size;
}

bool platform_close(PlatformFile file) {
  const uintptr_t block[] = {(uintptr_t)file};
  return Call(kSysClose, block) == 0;
}

enum { kMaxCommandLine = 2048, kMaxArguments = 64 };

int semihosting_arguments(char*** argv) {
  static char line[kMaxCommandLine];
  static char* words[kMaxArguments + 1];
  const uintptr_t block[] = {(uintptr_t)line, sizeof line};
  if (Call(kSysGetCmdline, block) != 0) {
    return -1;
  }
  int count = 0;
  char* next = line;
  for (;;) {
    while (*next == ' ') {
      *next++ = '\0';
    }
    if (*next == '\0') {
      break;
    }
    if (count == kMaxArguments) {
      return -1;
    }
    words[count++] = next;
    while (*next != ' ' && *next != '\0') {
      ++next;
    }
  }
  words[count] = NULL;
  *argv = words;
  return count;
}
