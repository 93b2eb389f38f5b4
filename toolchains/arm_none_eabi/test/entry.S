/* Assembler sources go through the C preprocessor. */
#define STACK_TOP 0x20001000
  .syntax unified
  .section .vectors, "a"
  .word STACK_TOP
  .word reset + 1

  .text
  .global reset
  .thumb_func
reset:
  bl main
  b .
