/* The library and nothing else; size.sh tells the linker which calls to keep. */
#ifdef WITH_LIBRARY
#define MIMICDYN_IMPLEMENTATION
#include "mimicdyn.h"
#endif
#include "port.h"

int main(void) {
    return 0;
}
