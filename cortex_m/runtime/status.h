// What can fail returns a Status: a code, a sentence, and where it happened.
//
//   Status status = method.Execute();
//   if (!status.ok()) report(status.code(), status.message(), status.subject(), status.index());
//
// A Status never owns memory: `message` is a literal, `subject` points into the program (an operator's name, say) or is
// null, `index` is the instruction or value concerned, or -1, `argument` the argument of the call, or -1. So it costs no
// heap and no formatting on the device.
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
  constexpr Status(Code code, const char* message, const char* subject = nullptr, int32_t index = -1)
      : message_(message), subject_(subject), index_(index), code_(code) {}

  constexpr bool ok() const { return code_ == Code::kOk; }
  constexpr Code code() const { return code_; }
  constexpr const char* message() const { return message_; }
  constexpr const char* subject() const { return subject_; }
  constexpr int32_t index() const { return index_; }
  constexpr int argument() const { return argument_; }

  // The same failure, told with its place; keeps what an inner caller already knew.
  constexpr Status At(const char* subject, int32_t index) const {
    Status told(code_, message_, subject_ != nullptr ? subject_ : subject, index_ >= 0 ? index_ : index);
    told.argument_ = argument_;
    return told;
  }
  // The same failure, blamed on one argument of the call (0 is the first).
  constexpr Status OfArgument(size_t argument) const {
    Status told = *this;
    told.argument_ = static_cast<int16_t>(argument);
    return told;
  }

 private:
  const char* message_ = "";
  const char* subject_ = nullptr;
  int32_t index_ = -1;
  int16_t argument_ = -1;
  Code code_ = Code::kOk;
};

}  // namespace cortex_m

#define CORTEX_M_RETURN_IF_ERROR(expression)                    \
  do {                                                          \
    if (::cortex_m::Status status_ = (expression); !status_.ok()) { \
      return status_;                                           \
    }                                                           \
  } while (0)

#endif  // CORTEX_M_RUNTIME_STATUS_H_
