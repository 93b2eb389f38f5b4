// program_info FILE.pte: verifies the program as the device does, and prints what is in it as JSON (program_json.h).
//
// Exit status 0; 1 and one sentence on stderr if the file cannot be read or is refused.
#include <cstdio>
#include <string>

#include "cortex_m/runtime/program.h"
#include "cortex_m/runtime/program_file.h"
#include "cortex_m/runtime/program_json.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: program_info FILE.pte\n");
    return 1;
  }
  std::string contents;
  if (!cortex_m::ReadFile(argv[1], contents)) {
    std::fprintf(stderr, "program_info: %s: cannot be read\n", argv[1]);
    return 1;
  }
  const cortex_m::AlignedBytes bytes(contents);
  cortex_m::Program program;
  if (const cortex_m::Status status = cortex_m::Program::Load(bytes.bytes(), program); !status.ok()) {
    std::fprintf(stderr, "program_info: %s: %s\n", argv[1], cortex_m::ToSentence(status).c_str());
    return 1;
  }
  std::printf("%s\n", cortex_m::ProgramJson(program).c_str());
  return 0;
}
