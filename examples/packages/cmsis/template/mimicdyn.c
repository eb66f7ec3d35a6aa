/* The one file with the implementation. Knobs such as MIMICDYN_SCALAR are options of the project,
   so that all files have the same. */
#define MIMICDYN_IMPLEMENTATION
#include "mimicdyn.h"
