// Runs on a core the calls that the tests made on the host, and compares the results to the bit (any NaN is any NaN).
//
//   replay calls.bin
//
// The file (replay_file.py) is a sequence of calls, each of them
//   u32 bytes of the call, u32 bytes of the name, u32 number of arguments, u32 refused (1: the kernel must refuse), the
//   name, and for each argument a u32 tag (cortex_m::Tag) with its content. Everything begins at a multiple of 16
//   bytes: headers of a list or tensor as well as its data.
// A tensor that is written holds its content before the call, then the content that is expected after it.

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "cortex_m/boards/platform.h"
#include "cortex_m/boards/print.h"
#include "cortex_m/runtime/kernel.h"

namespace cortex_m {

extern const KernelTable kPortableKernels;

namespace {

constexpr size_t kMaxArguments = 32;
constexpr size_t kMaxItems = 64;

struct Written {
  Tensor tensor;
  const uint8_t* expected;
};

struct Call {
  Value arguments[kMaxArguments];
  Tensor items[kMaxItems];
  const Tensor* pointers[kMaxItems];
  size_t items_used = 0;
  Written written[kMaxItems];
  size_t written_count = 0;
};

class Reader {
 public:
  explicit Reader(uint8_t* bytes) : next_(bytes) {}
  uint8_t* Take(size_t size) {
    uint8_t* here = next_;
    next_ += (size + 15) / 16 * 16;
    return here;
  }
  const uint32_t* Words(size_t count) { return reinterpret_cast<const uint32_t*>(Take(4 * count)); }

 private:
  uint8_t* next_;
};

Tensor ReadTensor(Reader& reader, Call& call) {
  const uint32_t* header = reader.Words(4);  // rank, dtype, written
  Tensor tensor;
  tensor.rank = static_cast<uint8_t>(header[0]);
  tensor.dtype = static_cast<ScalarType>(header[1]);
  tensor.constant = header[2] == 0;
  tensor.sizes = reinterpret_cast<const int32_t*>(reader.Take(4 * tensor.rank));
  tensor.dim_order = reader.Take(tensor.rank);
  tensor.data = reader.Take(ByteSize(tensor));
  if (!tensor.constant) call.written[call.written_count++] = {tensor, reader.Take(ByteSize(tensor))};
  return tensor;
}

void ReadArgument(Reader& reader, Call& call, Value& value) {
  const uint32_t* header = reader.Words(4);  // tag, number of items
  value.tag = static_cast<Tag>(header[0]);
  const size_t count = header[1];
  switch (value.tag) {
    case Tag::kNone:
      return;
    case Tag::kInt:
    case Tag::kDouble:
    case Tag::kBool:
      std::memcpy(&value.as_int, reader.Take(8), 8);
      return;
    case Tag::kTensor:
      value.as_tensor = ReadTensor(reader, call);
      return;
    case Tag::kString:
      value.as_string = {reinterpret_cast<const char*>(reader.Take(count)), count};
      return;
    case Tag::kIntList:
      value.as_int_list = {reinterpret_cast<const int64_t*>(reader.Take(8 * count)), count};
      return;
    case Tag::kDoubleList:
      value.as_double_list = {reinterpret_cast<const double*>(reader.Take(8 * count)), count};
      return;
    default:
      break;
  }
  const size_t first = call.items_used;
  call.items_used += count;
  for (size_t i = first; i < first + count; ++i) {
    const bool present = *reader.Words(4) != 0;
    call.pointers[i] = present ? &call.items[i] : nullptr;
    if (present) call.items[i] = ReadTensor(reader, call);
  }
  if (value.tag == Tag::kTensorList) {
    value.as_tensor_list = {call.items + first, count};
  } else {
    value.as_optional_tensor_list = {call.pointers + first, count};
  }
}

bool Same(const Written& written) {
  const size_t size = ByteSize(written.tensor);
  if (std::memcmp(written.tensor.data, written.expected, size) == 0) return true;
  if (written.tensor.dtype != ScalarType::kFloat) return false;
  for (size_t i = 0; i < size; i += 4) {
    uint32_t a, b;
    std::memcpy(&a, written.tensor.as<uint8_t>() + i, 4);
    std::memcpy(&b, written.expected + i, 4);
    const bool nans = (a & 0x7FFFFFFF) > 0x7F800000 && (b & 0x7FFFFFFF) > 0x7F800000;
    if (a != b && !nans) return false;
  }
  return true;
}

// The sentence of what went wrong, or null.
const char* Replay(uint8_t* bytes, const char*& name) {
  static Call call;
  call = Call();
  Reader reader(bytes);
  const uint32_t* header = reader.Words(4);
  name = reinterpret_cast<const char*>(reader.Take(header[1]));
  const size_t count = header[2];
  for (size_t i = 0; i < count; ++i) ReadArgument(reader, call, call.arguments[i]);
  for (const Kernel& kernel : kPortableKernels) {
    if (std::strcmp(kernel.name, name) != 0) continue;
    KernelContext context;
    const Status status = kernel.function(context, {call.arguments, count});
    if (header[3] != 0) return status.ok() ? "the kernel did not refuse" : nullptr;
    if (!status.ok()) return status.message();
    for (size_t i = 0; i < call.written_count; ++i) {
      if (!Same(call.written[i])) return "the result differs from the host's";
    }
    return nullptr;
  }
  return "there is no such kernel";
}

int Main(int argc, char** argv) {
  if (argc != 2) {
    print_text("usage: replay calls.bin\n");
    return 2;
  }
  const PlatformFile file = platform_open(argv[1], kPlatformRead);
  if (file < 0) {
    print_text("cannot open the file\n");
    return 2;
  }
  const PlatformPool pool = platform_pool();
  int64_t calls = 0;
  int64_t failures = 0;
  uint32_t header[4];
  while (platform_read(file, header, sizeof header) == sizeof header) {
    if (header[0] > pool.size) {
      print_text("a call is larger than the memory\n");
      return 2;
    }
    std::memcpy(pool.start, header, sizeof header);
    if (platform_read(file, pool.start + sizeof header, header[0] - sizeof header) != header[0] - sizeof header) {
      print_text("the file ends in the middle of a call\n");
      return 2;
    }
    const char* name;
    const char* sentence = Replay(pool.start, name);
    if (sentence != nullptr) {
      ++failures;
      print_text("call ");
      print_decimal(calls);
      print_text(" ");
      print_text(name);
      print_text(": ");
      print_text(sentence);
      print_text("\n");
    }
    ++calls;
  }
  platform_close(file);
  print_text("calls: ");
  print_decimal(calls);
  print_text("\nfailures: ");
  print_decimal(failures);
  print_text("\n");
  return failures == 0 ? 0 : 1;
}

}  // namespace
}  // namespace cortex_m

int main(int argc, char** argv) { return cortex_m::Main(argc, argv); }
