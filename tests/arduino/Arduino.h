// What the sketch of examples/ uses of an Arduino core, for tables.sh: declared for cross
// compilers, defined by sketch.cpp on the host.
#ifndef ARDUINO_H
#define ARDUINO_H
#include <stddef.h>
#include <stdint.h>
enum { A0 = 14 };
struct Port {
    void begin(unsigned long baud);
    void print(int32_t number);
    void print(char character);
    void println(int32_t number);
    void println(const char *text);
};
extern Port Serial;
unsigned long micros();
void delay(unsigned long milliseconds);
int analogRead(int pin);
void setup();
void loop();
#endif
