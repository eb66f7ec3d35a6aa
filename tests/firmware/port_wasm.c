/* WebAssembly: wasm.js gives a function that takes one character. */
#include "port.h"

__attribute__((import_module("port"), import_name("put"))) void port_put(int character);

void port_text(const char *text) {
    while (*text != 0) port_put(*text++);
}

void port_exit(int code) {
    (void)code;
    __builtin_trap();
}
