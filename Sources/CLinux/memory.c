#ifdef __linux__
#include "shim.h"
#include <malloc.h>
#include <stdio.h>
#include <unistd.h>

void clinux_return_unused_memory(void) {
#ifdef __GLIBC__
    mallopt(M_TRIM_THRESHOLD, 1 << 20);
    // Setting one of the two fixes the other, at a value at which each larger buffer would be a system call.
    mallopt(M_MMAP_THRESHOLD, 4 << 20);
#endif
}

#ifdef __GLIBC__
/// The memory that belongs to this process alone.
static size_t own_memory(void) {
    FILE *file = fopen("/proc/self/statm", "re");
    if (!file) return 0;
    unsigned long resident = 0, shared = 0;
    int count = fscanf(file, "%*u %lu %lu", &resident, &shared);
    fclose(file);
    return count == 2 && resident > shared ? (resident - shared) * (size_t)sysconf(_SC_PAGESIZE) : 0;
}
#endif

size_t clinux_freed_memory(void) {
#ifdef __GLIBC__
    struct mallinfo2 blocks = mallinfo2();
    size_t used = blocks.uordblks + blocks.hblkhd, own = own_memory();
    return own > used ? own - used : 0;
#else
    return 0;
#endif
}

void clinux_trim_memory(void) {
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}
#endif
