// Number classes for the inside of mimicdyn.h, in place of floats and integers: they have no
// operators and
// convert to and from nothing, so arithmetic that goes round the number layer does not compile.
// Include this before the implementation; checked_refused.cpp shows that the refusals work.
#ifndef CHECKED_HPP
#define CHECKED_HPP

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define MDYN_CHECKED_NUMBERS_ 1

// `Kind` makes md_num and md_unit different types: they may not be mixed either.
template <class Raw, class Kind> struct mdyn_checked_ {
    Raw raw;

    static mdyn_checked_ of(Raw x) {
        mdyn_checked_ r;
        r.raw = x;
        return r;
    }
    template <class T> static mdyn_checked_ of(T) = delete; // not by way of another type
};

#define MDYN_CHECKED_REAL_F32 float
#define MDYN_CHECKED_REAL_F64 double
#define MDYN_CHECKED_REAL_FIXED int64_t
#define MDYN_CHECKED_UNIT_F32 float
#define MDYN_CHECKED_UNIT_F64 double
#define MDYN_CHECKED_UNIT_FIXED int32_t
#define MDYN_CHECKED_PASTE_(a, b) a##b
#define MDYN_CHECKED_PASTE(a, b) MDYN_CHECKED_PASTE_(a, b)
#define MDYN_CHECKED_REAL MDYN_CHECKED_PASTE(MDYN_CHECKED_REAL_, MIMICDYN_SCALAR)
#define MDYN_CHECKED_UNIT MDYN_CHECKED_PASTE(MDYN_CHECKED_UNIT_, MIMICDYN_SCALAR)

struct mdyn_checked_num_kind_ {};
struct mdyn_checked_unit_kind_ {};
typedef mdyn_checked_<MDYN_CHECKED_REAL, mdyn_checked_num_kind_> mdyn_checked_num_;
typedef mdyn_checked_<MDYN_CHECKED_UNIT, mdyn_checked_unit_kind_> mdyn_checked_unit_;

#endif
