/* Small numbers from the bytes of a fuzzer; beyond them, xorshift64* from a hash of them. */
#ifndef BYTES_H
#define BYTES_H

#include <stddef.h>
#include <stdint.h>

typedef struct input { const uint8_t *data; size_t size, at; uint64_t state; } input;

static inline unsigned take_u8(input *in)
{
    if (in->at < in->size) return in->data[in->at++];
    in->state ^= in->state >> 12;
    in->state ^= in->state << 25;
    in->state ^= in->state >> 27;
    return (unsigned)((in->state * 0x2545F4914F6CDD1Du) >> 56);
}

static inline input input_of(const uint8_t *data, size_t size)
{
    input in = { data, size, 0, 0xCBF29CE484222325u };
    for (size_t i = 0; i < size; i++) in.state = (in.state ^ data[i]) * 0x100000001B3u;
    in.state += in.state == 0;
    return in;
}

#endif
