// A plugin for QEMU that counts how often each translation block runs, how often control left its end by a jump, and how many
// bytes go to and from each part of memory. Counts are cut into segments where the program passes an address.
//
//   qemu-system-arm ... -plugin libblocks.so,out=FILE,split=ADDRESS
//
// FILE is text. A line "segment" begins each segment; then, for what ran and was touched in it,
//   block ADDRESS INSTRUCTIONS EXECUTIONS JUMPS
//   memory PAGE ACCESSES BYTES        (of 2^19 bytes each)
// with addresses and pages in hexadecimal.
//
// Debian has no package with qemu-plugin.h, so what is used of it is declared here, as QEMU's documentation has it. Versions 1
// (QEMU 6 to 8) and 2 and later (QEMU 9 and newer) agree in all of this; QEMU asks for a version by a symbol of the plugin.
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef PLUGIN_VERSION
#error "PLUGIN_VERSION is 1 for QEMU before 9, and 2 from there on"
#endif

#define EXPORT __attribute__((visibility("default")))

typedef uint64_t qemu_plugin_id_t;
typedef uint32_t qemu_plugin_meminfo_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
enum { kNoRegisters = 0, kLoadsAndStores = 3 };

typedef void (*translated_callback)(qemu_plugin_id_t id, struct qemu_plugin_tb* tb);
typedef void (*executed_callback)(unsigned int cpu, void* data);
typedef void (*memory_callback)(unsigned int cpu, qemu_plugin_meminfo_t info, uint64_t address, void* data);
typedef void (*exit_callback)(qemu_plugin_id_t id, void* data);

void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id, translated_callback callback);
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb* tb, executed_callback callback, int flags, void* data);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn* insn, memory_callback callback, int flags, int rw,
                                      void* data);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id, exit_callback callback, void* data);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb* tb);
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb* tb);
struct qemu_plugin_insn* qemu_plugin_tb_get_insn(const struct qemu_plugin_tb* tb, size_t index);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn* insn);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn* insn);
unsigned int qemu_plugin_mem_size_shift(qemu_plugin_meminfo_t info);

EXPORT int qemu_plugin_version = PLUGIN_VERSION;

enum { kBuckets = 1 << 14, kPageBits = 19, kPages = 1 << (32 - kPageBits), kPageOfTranslation = 1024 };

typedef struct block {
  struct block* next;
  uint32_t address, end, instructions;
  uint64_t executions, jumps;
} block;

static block* buckets[kBuckets];
static struct {
  uint64_t accesses, bytes;
} pages[kPages];
static block* last;  // that ran
static uint64_t split = UINT64_MAX;
static FILE* out;

// One for each address and number of instructions, however often QEMU translates it anew.
static block* find(uint32_t address, uint32_t end, uint32_t instructions) {
  block** place = &buckets[(address >> 1) % kBuckets];
  for (; *place != NULL; place = &(*place)->next) {
    if ((*place)->address == address && (*place)->instructions == instructions) {
      return *place;
    }
  }
  *place = calloc(1, sizeof **place);
  if (*place == NULL) {
    fputs("blocks: out of memory\n", stderr);
    exit(1);
  }
  (*place)->address = address;
  (*place)->end = end;
  (*place)->instructions = instructions;
  return *place;
}

static void write_segment(void) {
  fputs("segment\n", out);
  for (int i = 0; i < kBuckets; ++i) {
    for (block* b = buckets[i]; b != NULL; b = b->next) {
      if (b->executions != 0) {
        fprintf(out, "block %" PRIx32 " %" PRIu32 " %" PRIu64 " %" PRIu64 "\n", b->address, b->instructions,
                b->executions, b->jumps);
      }
      b->executions = b->jumps = 0;
    }
  }
  for (int i = 0; i < kPages; ++i) {
    if (pages[i].accesses != 0) {
      fprintf(out, "memory %x %" PRIu64 " %" PRIu64 "\n", i, pages[i].accesses, pages[i].bytes);
    }
    pages[i].accesses = pages[i].bytes = 0;
  }
}

// QEMU looks at what follows an instruction that ends two bytes before a page, and tells these bytes as part of it.
static bool goes_on(const block* b, uint32_t next) {
  return b->end == next || (b->end % kPageOfTranslation == 0 && b->end - 2 == next);
}

static void executed(unsigned int cpu, void* data) {
  (void)cpu;
  block* const b = data;
  if (last != NULL && !goes_on(last, b->address)) {
    ++last->jumps;
  }
  if (b->address == split) {
    write_segment();
  }
  ++b->executions;
  last = b;
}

static void accessed(unsigned int cpu, qemu_plugin_meminfo_t info, uint64_t address, void* data) {
  (void)cpu;
  (void)data;
  const uint32_t page = (uint32_t)address >> kPageBits;
  ++pages[page].accesses;
  pages[page].bytes += 1u << qemu_plugin_mem_size_shift(info);
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb* tb) {
  (void)id;
  const size_t count = qemu_plugin_tb_n_insns(tb);
  uint32_t end = 0;
  for (size_t i = 0; i < count; ++i) {
    struct qemu_plugin_insn* const insn = qemu_plugin_tb_get_insn(tb, i);
    end = (uint32_t)(qemu_plugin_insn_vaddr(insn) + qemu_plugin_insn_size(insn));
    qemu_plugin_register_vcpu_mem_cb(insn, accessed, kNoRegisters, kLoadsAndStores, NULL);
  }
  block* const b = find((uint32_t)qemu_plugin_tb_vaddr(tb), end, (uint32_t)count);
  qemu_plugin_register_vcpu_tb_exec_cb(tb, executed, kNoRegisters, b);
}

static void ended(qemu_plugin_id_t id, void* data) {
  (void)id;
  (void)data;
  write_segment();
  fclose(out);
}

EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const void* info, int argc, char** argv) {
  (void)info;
  for (int i = 0; i < argc; ++i) {
    if (strncmp(argv[i], "out=", 4) == 0) {
      out = fopen(argv[i] + 4, "w");
    } else if (strncmp(argv[i], "split=", 6) == 0) {
      split = strtoull(argv[i] + 6, NULL, 0);
    } else {
      fprintf(stderr, "blocks: there is no argument %s; there are out and split\n", argv[i]);
      return 1;
    }
  }
  if (out == NULL) {
    fputs("blocks: out= names no file that can be written\n", stderr);
    return 1;
  }
  qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
  qemu_plugin_register_atexit_cb(id, ended, NULL);
  return 0;
}
