// Simulates a failing disk or computer on Linux. Loaded before the C library (LD_PRELOAD).
//
// KILL_AT=N kills the process before its Nth call that changes the file system. KILL_COUNT=FILE receives the number of these
// calls when the process ends normally.
//
// FAIL_CALL=write|fsync|rename|open|link|read makes these calls fail with FAIL_ERRNO if the path contains FAIL_PATH; with
// FAIL_AFTER=N, after N such calls. FAIL_CALL=space reports a full file system there.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define REAL(name, ...) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))(__VA_ARGS__)

static atomic_long calls;
static atomic_long matches;

static void count(void) {
    const char *at = getenv("KILL_AT");
    long number = atomic_fetch_add(&calls, 1) + 1;
    if (at && number == atol(at)) kill(getpid(), SIGKILL);
}

__attribute__((destructor)) static void write_count(void) {
    const char *path = getenv("KILL_COUNT");
    if (!path) return;
    FILE *file = fopen(path, "w");
    if (!file) return;
    fprintf(file, "%ld\n", atomic_load(&calls));
    fclose(file);
}

static int fails(const char *call, const char *path) {
    const char *wanted = getenv("FAIL_CALL"), *part = getenv("FAIL_PATH"), *after = getenv("FAIL_AFTER");
    if (!wanted || !part || !path || strcmp(wanted, call) || !strstr(path, part)) return 0;
    if (after && atomic_fetch_add(&matches, 1) < atol(after)) return 0;
    errno = atoi(getenv("FAIL_ERRNO"));
    return 1;
}

static int fails_at(const char *call, int file) {
    char link[64], path[4096];
    if (!getenv("FAIL_CALL")) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) return 0;
    path[length] = 0;
    return fails(call, path);
}

// Pipes and terminals don't count.
static void count_at(int file) {
    struct stat status;
    if (fstat(file, &status) == 0 && S_ISREG(status.st_mode)) count();
}

ssize_t write(int file, const void *bytes, size_t size) {
    count_at(file);
    return fails_at("write", file) ? -1 : REAL(write, file, bytes, size);
}

ssize_t pwrite(int file, const void *bytes, size_t size, off_t offset) {
    count_at(file);
    return fails_at("write", file) ? -1 : REAL(pwrite, file, bytes, size, offset);
}

ssize_t pwrite64(int file, const void *bytes, size_t size, off64_t offset) {
    count_at(file);
    return fails_at("write", file) ? -1 : REAL(pwrite64, file, bytes, size, offset);
}

ssize_t copy_file_range(int from, off64_t *at, int to, off64_t *target, size_t size, unsigned flags) {
    count_at(to);
    return fails_at("write", to) ? -1 : REAL(copy_file_range, from, at, to, target, size, flags);
}

ssize_t pread(int file, void *bytes, size_t size, off_t offset) {
    return fails_at("read", file) ? -1 : REAL(pread, file, bytes, size, offset);
}

ssize_t pread64(int file, void *bytes, size_t size, off64_t offset) {
    return fails_at("read", file) ? -1 : REAL(pread64, file, bytes, size, offset);
}

ssize_t read(int file, void *bytes, size_t size) {
    return fails_at("read", file) ? -1 : REAL(read, file, bytes, size);
}

int fsync(int file) {
    count();
    return fails_at("fsync", file) ? -1 : REAL(fsync, file);
}

int fdatasync(int file) {
    count();
    return fails_at("fsync", file) ? -1 : REAL(fdatasync, file);
}

int ftruncate(int file, off_t size) {
    count();
    return REAL(ftruncate, file, size);
}

int ftruncate64(int file, off64_t size) {
    count();
    return REAL(ftruncate64, file, size);
}

int rename(const char *source, const char *target) {
    count();
    return fails("rename", target) ? -1 : REAL(rename, source, target);
}

int statvfs(const char *path, struct statvfs *status) {
    int result = REAL(statvfs, path, status);
    if (fails("space", path)) status->f_bavail = 1;
    return result;
}

int unlink(const char *path) {
    count();
    return fails("unlink", path) ? -1 : REAL(unlink, path);
}

int link(const char *source, const char *target) {
    count();
    return fails("link", source) ? -1 : REAL(link, source, target);
}

int open(const char *path, int flags, ...) {
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = va_arg(arguments, mode_t);
    va_end(arguments);
    if (flags & O_CREAT) count();
    return fails("open", path) ? -1 : REAL(open, path, flags, mode);
}

int open64(const char *path, int flags, ...) {
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = va_arg(arguments, mode_t);
    va_end(arguments);
    if (flags & O_CREAT) count();
    return fails("open", path) ? -1 : REAL(open64, path, flags, mode);
}

// FAIL_LOCKS=1 simulates a file system without locks.
int flock(int file, int operation) {
    if (getenv("FAIL_LOCKS")) {
        errno = ENOLCK;
        return -1;
    }
    return REAL(flock, file, operation);
}

static int locks(int command) {
    return command == F_SETLK || command == F_SETLKW || command == F_GETLK;
}

int fcntl(int file, int command, ...) {
    va_list arguments;
    va_start(arguments, command);
    void *argument = va_arg(arguments, void *);
    va_end(arguments);
    if (getenv("FAIL_LOCKS") && locks(command)) {
        errno = ENOLCK;
        return -1;
    }
    return REAL(fcntl, file, command, argument);
}

int fcntl64(int file, int command, ...) {
    va_list arguments;
    va_start(arguments, command);
    void *argument = va_arg(arguments, void *);
    va_end(arguments);
    if (getenv("FAIL_LOCKS") && locks(command)) {
        errno = ENOLCK;
        return -1;
    }
    return REAL(fcntl, file, command, argument);
}
