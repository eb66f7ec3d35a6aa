/* native.c - the machines of playground.c without a browser: prints the hash of 1,000 steps of
   each, which the page must show too. */

#include <inttypes.h>
#include <stdio.h>
#include "playground.c"

int main(void)
{
    int which;
    for (which = 0; which < MACHINES; which++) {
        printf("%016" PRIx64 "\n", play_scripted_hash(which, 1000));
    }
    return 0;
}
