// The serial port of the board, byte by byte.
#ifndef BOARD_H_
#define BOARD_H_

unsigned char serial_read(void);
void serial_write(char byte);

#endif  // BOARD_H_
