#ifdef __linux__
#include "shim.h"
#include <malloc.h>

void clinux_return_unused_memory(void) {
#ifdef __GLIBC__
    mallopt(M_TRIM_THRESHOLD, 1 << 20);
    // Setting one of the two fixes the other, at a value at which each larger buffer would be a system call.
    mallopt(M_MMAP_THRESHOLD, 4 << 20);
#endif
}
#endif
