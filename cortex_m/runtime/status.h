// What can fail returns a Status: a code, a sentence, and where it happened.
//
//   Status status = method.Execute();
//   if (!status.ok()) report(status.code(), status.message(), status.subject(), status.index());
//
// A Status never owns memory: `message` is a literal, `subject` points into the program (an operator's name, say) or is
// null, `index` is the instruction or value concerned, or -1, `argument` the argument of the call, or -1. So it costs no
// heap and no formatting on the device.
//
// With CORTEX_M_NO_MESSAGES (--features=minimum_size) the sentences are left out of the program, and message() names the code.
#ifndef CORTEX_M_RUNTIME_STATUS_H_
#define CORTEX_M_RUNTIME_STATUS_H_

#include <cstddef>
#include <cstdint>

namespace cortex_m {

enum class Code : uint8_t {
  kOk = 0,
  kInvalidProgram,     // the .pte is malformed: truncated, corrupted, or indices and sizes that contradict each other
  kUnsupported,        // well-formed, but asks for what this runtime does not do (a delegate, a dynamic shape)
  kNotFound,           // a method or kernel of that name is not linked in
  kInvalidArgument,    // an argument of a kernel or of an API call has the wrong type, shape, layout or range
  kResourceExhausted,  // a buffer is smaller than the program needs
  kInternal,           // a fault of the runtime itself
};

class [[nodiscard]] Status {
 public:
  constexpr Status() = default;
#ifdef CORTEX_M_NO_MESSAGES
  // Inlined, so that no call keeps the sentence.
  __attribute__((always_inline)) constexpr Status(Code code, const char*, const char* subject = nullptr,
                                                  int32_t index = -1)
      : subject_(subject), index_(index), code_(code) {}
#else
  constexpr Status(Code code, const char* message, const char* subject = nullptr, int32_t index = -1)
      : message_(message), subject_(subject), index_(index), code_(code) {}
#endif

  constexpr bool ok() const { return code_ == Code::kOk; }
  constexpr Code code() const { return code_; }
#ifdef CORTEX_M_NO_MESSAGES
  constexpr const char* message() const {
    switch (code_) {
      case Code::kOk:
        return "";
      case Code::kInvalidProgram:
        return "invalid program";
      case Code::kUnsupported:
        return "unsupported";
      case Code::kNotFound:
        return "not found";
      case Code::kInvalidArgument:
        return "invalid argument";
      case Code::kResourceExhausted:
        return "resource exhausted";
      default:
        return "internal";
    }
  }
#else
  constexpr const char* message() const { return message_; }
#endif
  constexpr const char* subject() const { return subject_; }
  constexpr int32_t index() const { return index_; }
  constexpr int argument() const { return argument_; }

  // The same failure, told with its place; keeps what an inner caller already knew.
  constexpr Status At(const char* subject, int32_t index) const {
    Status told = *this;
    if (told.subject_ == nullptr) told.subject_ = subject;
    if (told.index_ < 0) told.index_ = index;
    return told;
  }
  // The same failure, blamed on one argument of the call (0 is the first).
  constexpr Status OfArgument(size_t argument) const {
    Status told = *this;
    told.argument_ = static_cast<int16_t>(argument);
    return told;
  }

 private:
#ifndef CORTEX_M_NO_MESSAGES
  const char* message_ = "";
#endif
  const char* subject_ = nullptr;
  int32_t index_ = -1;
  int16_t argument_ = -1;
  Code code_ = Code::kOk;
};

}  // namespace cortex_m

#define CORTEX_M_RETURN_IF_ERROR(expression)                        \
  do {                                                              \
    if (::cortex_m::Status status_ = (expression); !status_.ok()) { \
      return status_;                                               \
    }                                                               \
  } while (0)

#endif  // CORTEX_M_RUNTIME_STATUS_H_
