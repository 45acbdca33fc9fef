// Simulates a failing disk or computer on Linux. Loaded before the C library (LD_PRELOAD).
//
// KILL_AT=N kills the process before its Nth call that changes the file system. KILL_COUNT=FILE receives the number of these
// calls when the process ends normally.
//
// FAIL_CALL=write|fsync|rename|open|link|read makes these calls fail with FAIL_ERRNO if the path contains FAIL_PATH; with
// FAIL_AFTER=N, after N such calls. FAIL_CALL=space reports a full file system there.
//
// With CHANGE_TO=FILE they don't fail. Instead, before the first of them, the file at that path gets the bytes of FILE: written over its own,
// with its time of modification set back, or with CHANGE_BY=rename by another file that takes its place. MATCH_COUNT=FILE receives the number
// of calls that matched.
//
// DISK_OF=FOLDER keeps in FOLDER.disk/ what a power cut would leave of FOLDER: files and lists of folders, as they were when they were last
// flushed. `power_cut.py` makes the folder from it. With DISK_LOSES=TEXT, the disk loses what is flushed at paths with this text.
#define _GNU_SOURCE
#include <dirent.h>
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
#include <sys/wait.h>
#include <unistd.h>

#define REAL(name, ...) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))(__VA_ARGS__)

static atomic_long calls;
static atomic_long matches;

static void count(void) {
    const char *at = getenv("KILL_AT");
    long number = atomic_fetch_add(&calls, 1) + 1;
    if (at && number == atol(at)) kill(getpid(), SIGKILL);
}

static void write_number(const char *path, long number) {
    FILE *file = path ? fopen(path, "w") : NULL;
    if (!file) return;
    fprintf(file, "%ld\n", number);
    fclose(file);
}

__attribute__((destructor)) static void write_counts(void) {
    write_number(getenv("KILL_COUNT"), atomic_load(&calls));
    write_number(getenv("MATCH_COUNT"), atomic_load(&matches));
}

// By another process, so that its calls aren't counted here.
static void change(const char *path) {
    static atomic_flag done = ATOMIC_FLAG_INIT;
    if (atomic_flag_test_and_set(&done)) return;
    const char *how = getenv("CHANGE_BY");
    const char *script = how && !strcmp(how, "rename") ? "cp \"$1\" \"$2.other\" && mv \"$2.other\" \"$2\""
        : "touch -r \"$2\" \"$1.time\" && dd if=\"$1\" of=\"$2\" conv=notrunc status=none && touch -r \"$1.time\" \"$2\"";
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        unsetenv("LD_PRELOAD");
        execl("/bin/sh", "sh", "-c", script, "sh", getenv("CHANGE_TO"), path, (char *)NULL);
        _exit(1);
    }
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0) abort();
}

static int fails(const char *call, const char *path) {
    const char *wanted = getenv("FAIL_CALL"), *part = getenv("FAIL_PATH"), *after = getenv("FAIL_AFTER");
    if (!wanted || !part || !path || strcmp(wanted, call) || !strstr(path, part)) return 0;
    if (atomic_fetch_add(&matches, 1) < (after ? atol(after) : 0)) return 0;
    if (getenv("CHANGE_TO")) {
        change(path);
        return 0;
    }
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
    return fails_at("write", to) || fails_at("read", from) ? -1 : REAL(copy_file_range, from, at, to, target, size, flags);
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

// The number of a file, which no later file has: inodes are used again, but at another time.
static int find_key(int folder, const char *name, char key[64], unsigned *mode) {
    struct statx status;
    if (statx(folder, name, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW, STATX_BASIC_STATS | STATX_BTIME, &status)) return 0;
    snprintf(key, 64, "%llx-%llx-%x", status.stx_ino, status.stx_btime.tv_sec, status.stx_btime.tv_nsec);
    *mode = status.stx_mode;
    return 1;
}

// Copies a file, or lists a folder: the key, mode and name of each entry.
static void write_contents(const char *path, unsigned mode, FILE *copy) {
    if (S_ISDIR(mode)) {
        DIR *folder = opendir(path);
        if (!folder) abort();
        for (struct dirent *entry; (entry = readdir(folder));) {
            char key[64];
            unsigned kind;
            if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..")) continue;
            // It may have been deleted meanwhile.
            if (find_key(dirfd(folder), entry->d_name, key, &kind)) fprintf(copy, "%s %o %s%c", key, kind, entry->d_name, 0);
        }
        closedir(folder);
        return;
    }
    FILE *file = fopen(path, "r");
    if (!file) abort();
    char bytes[1 << 16];
    for (size_t size; (size = fread(bytes, 1, sizeof bytes, file));) fwrite(bytes, 1, size, copy);
    fclose(file);
}

// The contents are those of before the call: what is written during it may not be flushed.
static int flush(int file, int (*call)(int)) {
    const char *root = getenv("DISK_OF");
    char link[64], path[4096], key[64], name[4200], partial[4300];
    unsigned mode;
    if (!root) return call(file);
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) abort();
    path[length] = 0;
    if (strncmp(path, root, strlen(root))) return call(file);
    if (!find_key(file, "", key, &mode)) abort();
    snprintf(name, sizeof name, "%s.disk/%s", root, key);
    snprintf(partial, sizeof partial, "%s.%d", name, gettid());
    FILE *copy = fopen(partial, "w");
    if (!copy) abort();
    write_contents(link, mode, copy);
    struct stat status;
    if (fstat(file, &status)) abort();
    fflush(copy);
    futimens(fileno(copy), (struct timespec[]){status.st_atim, status.st_mtim});
    fclose(copy);
    int result = call(file);
    const char *lost = getenv("DISK_LOSES");
    if (result == 0 && !(lost && strstr(path, lost))) REAL(rename, partial, name);
    if (result == 0 && !strcmp(path, root)) {
        snprintf(name, sizeof name, "%s.disk/root", root);
        FILE *first = fopen(name, "w");
        if (!first) abort();
        fputs(key, first);
        fclose(first);
    }
    return result;
}

int fsync(int file) {
    count();
    return fails_at("fsync", file) ? -1 : flush(file, (int (*)(int))dlsym(RTLD_NEXT, "fsync"));
}

int fdatasync(int file) {
    count();
    return fails_at("fsync", file) ? -1 : flush(file, (int (*)(int))dlsym(RTLD_NEXT, "fdatasync"));
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
