// The platform on POSIX: the same programs, run by the machine that built them. Nothing is counted here.
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cortex_m/boards/platform.h"

void platform_write(const char* text, size_t size) { platform_write_file(STDOUT_FILENO, text, size); }

void platform_exit(int status) { exit(status); }

PlatformFile platform_open(const char* name, PlatformMode mode) {
  return mode == kPlatformRead ? open(name, O_RDONLY) : open(name, O_WRONLY | O_CREAT | O_TRUNC, 0666);
}

int64_t platform_length(PlatformFile file) {
  struct stat status;
  return fstat(file, &status) == 0 && S_ISREG(status.st_mode) ? (int64_t)status.st_size : -1;
}

size_t platform_read(PlatformFile file, void* buffer, size_t size) {
  size_t done = 0;
  while (done < size) {
    const ssize_t count = read(file, (char*)buffer + done, size - done);
    if (count <= 0) {
      break;
    }
    done += (size_t)count;
  }
  return done;
}

bool platform_write_file(PlatformFile file, const void* data, size_t size) {
  size_t done = 0;
  while (done < size) {
    const ssize_t count = write(file, (const char*)data + done, size - done);
    if (count <= 0) {
      return false;
    }
    done += (size_t)count;
  }
  return true;
}

bool platform_close(PlatformFile file) { return close(file) == 0; }

uint64_t platform_instructions(void) { return 0; }
size_t platform_stack_used(void) { return 0; }
size_t platform_stack_size(void) { return 0; }

PlatformPool platform_pool(void) {
  enum { kPoolBytes = 256 << 20 };  // as much as the largest board's; pages that nobody touches cost nothing
  static uint8_t pool[kPoolBytes] __attribute__((aligned(16)));
  const PlatformPool result = {pool, kPoolBytes};
  return result;
}

const char* platform_name(void) { return "host"; }
