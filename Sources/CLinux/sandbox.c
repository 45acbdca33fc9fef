// Sources: landlock(7), seccomp(2), execveat(2).
#ifdef __linux__
#define _GNU_SOURCE
#include "include/shim.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

// The program is executed from this descriptor, and the filter allows no other. It is closed then, and the limit of
// descriptors keeps the program from opening it again. So it can't execute anything else.
enum { PROGRAM = 200, DESCRIPTORS_MAX = 64 };

// Newer than the headers of some systems. The numbers are the same on every architecture.
enum { CLOSE_RANGE = 436, LANDLOCK_CREATE_RULESET = 444, LANDLOCK_ADD_RULE = 445, LANDLOCK_RESTRICT_SELF = 446 };

#ifdef ARCHITECTURE
// What a program needs to load its libraries, read files, use memory and write to its output. Everything else fails with
// EPERM: sockets, processes, threads, and all changes of files, of which Landlock doesn't know some. No signal can be
// sent, ignored or blocked, so the one that ends the program after a while arrives.
static const unsigned allowed[] = {
    __NR_read, __NR_pread64, __NR_readv, __NR_write, __NR_writev, __NR_lseek, __NR_close, __NR_dup, __NR_fstat,
    __NR_newfstatat, __NR_getdents64, __NR_fadvise64, __NR_mmap, __NR_munmap, __NR_mremap, __NR_mprotect,
    __NR_madvise, __NR_brk, __NR_futex, __NR_restart_syscall, __NR_set_tid_address, __NR_set_robust_list, __NR_rseq,
    __NR_getrandom, __NR_clock_gettime, __NR_clock_getres, __NR_gettimeofday, __NR_uname, __NR_sysinfo,
    __NR_sched_getaffinity, __NR_sched_yield, __NR_getpid, __NR_gettid, __NR_getuid, __NR_geteuid, __NR_getgid,
    __NR_getegid, __NR_exit, __NR_exit_group,
#ifdef __x86_64__
    __NR_arch_prctl, __NR_time,
#endif
};

// Opening is for reading only. O_TRUNC would empty a file even so.
enum { OPEN_FLAGS = O_CLOEXEC | O_DIRECTORY | O_NONBLOCK | O_NOFOLLOW };

#define ARGUMENT(number) offsetof(struct seccomp_data, args[number])
#define LOAD(offset) ((struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offset))
#define RETURN(value) ((struct sock_filter)BPF_STMT(BPF_RET | BPF_K, value))
// Goes on if the loaded value equals, has one of the bits, or is greater; otherwise skips instructions.
#define IF(test, value, skipped) ((struct sock_filter)BPF_JUMP(BPF_JMP | test | BPF_K, value, 0, skipped))
#define REFUSE RETURN(SECCOMP_RET_ERRNO | EPERM)
#define ALLOW RETURN(SECCOMP_RET_ALLOW)

size_t clinux_make_filter(struct sock_filter filter[CLINUX_FILTER_MAX], int allows_execve) {
    struct sock_filter *next = filter;
    *next++ = LOAD(offsetof(struct seccomp_data, arch));
    *next++ = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0);
    *next++ = REFUSE;
    *next++ = LOAD(offsetof(struct seccomp_data, nr));
    for (size_t i = 0; i < sizeof allowed / sizeof *allowed; i++) {
        *next++ = IF(BPF_JEQ, allowed[i], 1);
        *next++ = ALLOW;
    }
    if (allows_execve) {
        *next++ = IF(BPF_JEQ, __NR_execve, 1);
        *next++ = ALLOW;
    } else {
        *next++ = IF(BPF_JEQ, __NR_execveat, 4);
        *next++ = LOAD(ARGUMENT(0));
        *next++ = IF(BPF_JEQ, PROGRAM, 1);
        *next++ = ALLOW;
        *next++ = REFUSE;
    }
    *next++ = IF(BPF_JEQ, __NR_openat, 4);
    *next++ = LOAD(ARGUMENT(2));
    *next++ = IF(BPF_JSET, ~OPEN_FLAGS, 1);
    *next++ = REFUSE;
    *next++ = ALLOW;
    // F_DUPFD to F_SETFL. Later commands set owners, leases and notifications.
    *next++ = IF(BPF_JEQ, __NR_fcntl, 4);
    *next++ = LOAD(ARGUMENT(1));
    *next++ = IF(BPF_JGT, F_SETFL, 1);
    *next++ = REFUSE;
    *next++ = ALLOW;
    // Limits can be read, but not set: the third argument, a pointer, is null in both halves.
    *next++ = IF(BPF_JEQ, __NR_prlimit64, 5);
    *next++ = LOAD(ARGUMENT(2));
    *next++ = IF(BPF_JEQ, 0, 3);
    *next++ = LOAD(ARGUMENT(2) + 4);
    *next++ = IF(BPF_JEQ, 0, 1);
    *next++ = ALLOW;
    *next++ = REFUSE;
    return next - filter;
}

// The rights of the first version of Landlock. The system call filter refuses what later versions added.
enum { EXECUTE = 1 << 0, READ_FILE = 1 << 2, READ_DIR = 1 << 3, ALL_RIGHTS = (1 << 13) - 1 };

struct __attribute__((packed)) rule {
    uint64_t rights;
    int32_t descriptor;
};

static int allow(int rules, int descriptor, uint64_t rights) {
    const struct rule rule = {.rights = rights, .descriptor = descriptor};
    return (int)syscall(LANDLOCK_ADD_RULE, rules, 1 /* LANDLOCK_RULE_PATH_BENEATH */, &rule, 0);
}

static int restrict_files(char *const readable[]) {
    const uint64_t handled = ALL_RIGHTS;
    int rules = (int)syscall(LANDLOCK_CREATE_RULESET, &handled, sizeof handled, 0);
    if (rules < 0 || allow(rules, PROGRAM, READ_FILE | EXECUTE)) return -1;
    for (; *readable; readable++) {
        struct stat status;
        int path = open(*readable, O_PATH | O_CLOEXEC);
        if (path < 0) continue;
        if (fstat(path, &status)) return -1;
        // The loader is in a folder of libraries.
        if (allow(rules, path, S_ISDIR(status.st_mode) ? READ_FILE | READ_DIR | EXECUTE : READ_FILE)) return -1;
        close(path);
    }
    return (int)syscall(LANDLOCK_RESTRICT_SELF, rules, 0);
}

static int restrict_calls(void) {
    struct sock_filter instructions[CLINUX_FILTER_MAX];
    const struct sock_fprog filter = {(unsigned short)clinux_make_filter(instructions, 0), instructions};
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0);
}

#else

size_t clinux_make_filter(struct sock_filter filter[CLINUX_FILTER_MAX], int allows_execve) { return 0; }
static int restrict_files(char *const readable[]) { return -1; }
static int restrict_calls(void) { return -1; }

#endif

static int reset_signals(void) {
    sigset_t none;
    sigemptyset(&none);
    for (int number = 1; number < 32; number++) signal(number, SIG_DFL);
    return sigprocmask(SIG_SETMASK, &none, NULL) || prctl(PR_SET_PDEATHSIG, SIGKILL);
}

static int set_descriptors(struct clinux_descriptors descriptors) {
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    return dup2(descriptors.input < 0 ? null : descriptors.input, 0) < 0 || dup2(descriptors.output, 1) < 0
        || dup2(null, 2) < 0
        // The descriptor may have this number already, which dup3 refuses.
        || (descriptors.program != PROGRAM && dup3(descriptors.program, PROGRAM, O_CLOEXEC) < 0)
        || syscall(CLOSE_RANGE, 3, PROGRAM - 1, 0) || syscall(CLOSE_RANGE, PROGRAM + 1, ~0U, 0);
}

static int limit(int resource, rlim_t value) {
    const struct rlimit both = {value, value};
    return setrlimit(resource, &both);
}

pid_t clinux_start(struct clinux_descriptors descriptors, char *const arguments[], char *const readable[],
                   struct clinux_limits limits) {
    pid_t child = fork();
    if (child != 0) return child;
    // Only system calls from here on: another thread may hold any lock.
    char *const environment[] = {"LC_ALL=C", NULL};
    // Outlasts the exec.
    alarm(limits.duration);
    if (reset_signals() || set_descriptors(descriptors) || chdir("/") || limit(RLIMIT_AS, limits.memory)
        || limit(RLIMIT_CPU, limits.processor) || limit(RLIMIT_CORE, 0) || limit(RLIMIT_NOFILE, DESCRIPTORS_MAX)
        || (readable && (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || restrict_files(readable) || restrict_calls())))
        _exit(127);
    syscall(__NR_execveat, PROGRAM, "", arguments, environment, AT_EMPTY_PATH);
    _exit(127);
}
#endif
