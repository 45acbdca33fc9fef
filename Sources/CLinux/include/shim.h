// Declarations that the C library has only with _GNU_SOURCE, which Swift's import doesn't set, and a sandbox.
#pragma once
#include <fcntl.h>
#include <spawn.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

#ifdef __linux__
#include <linux/filter.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <sys/fsuid.h>
#include <sys/vfs.h>

extern ssize_t copy_file_range(int source, off_t *source_offset, int target, off_t *target_offset, size_t length,
                               unsigned int flags);
extern void *memmem(const void *text, size_t text_length, const void *wanted, size_t wanted_length);
extern int pipe2(int ends[2], int flags);
extern ssize_t preadv2(int descriptor, const struct iovec *buffers, int count, off_t offset, int flags);

extern int posix_spawn_file_actions_addchdir_np(posix_spawn_file_actions_t *actions, const char *path);

/// Makes the C library return unused memory of 1 MiB and more to the system. Otherwise it raises that threshold to twice the
/// largest block that was ever freed, and a list of 10,000 archives stays in memory. mallopt(3).
extern void clinux_return_unused_memory(void);

/// About how much memory the process has that isn't in use, in bytes; 0 if it's unknown. mallinfo(3); proc(5), "statm".
extern size_t clinux_freed_memory(void);

/// Returns all freed memory to the system, also that between used blocks. malloc_trim(3).
extern void clinux_trim_memory(void);

/// O_TMPFILE: a file without a name in a folder. open(2).
enum { CLINUX_O_TMPFILE = 020000000 | O_DIRECTORY };

/// F_SETLEASE: asks for a lease of a file. fcntl(2).
enum { CLINUX_F_SETLEASE = 1024 };

/// POSIX_SPAWN_SETSID: starts the process in a new session.
enum { CLINUX_POSIX_SPAWN_SETSID = 0x80 };

/// RWF_NOWAIT: fail with EAGAIN instead of waiting for the disk if the bytes aren't in the page cache.
enum { CLINUX_RWF_NOWAIT = 0x00000008 };

/// Descriptors for a new process. The standard error is `/dev/null`.
struct clinux_descriptors {
    /// The program's file, not a script.
    int program;
    /// The standard input; negative for `/dev/null`.
    int input;
    /// The standard output.
    int output;
};

/// Limits of a process: address space in bytes, processor time and duration in seconds.
struct clinux_limits {
    uint64_t memory;
    uint64_t processor;
    unsigned duration;
};

/// Starts a program with limits and without the other descriptors. It is killed when the calling thread ends.
///
/// If `readable` isn't null, the program runs in a sandbox: it can read only itself and these files and folders, and can't
/// use a network, change files, or start processes or programs. Missing files are skipped. Its status is 127 if the kernel
/// lacks Landlock or seccomp. Both lists end with a null pointer. Returns the process ID, or -1 with `errno`.
pid_t clinux_start(struct clinux_descriptors descriptors, char *const arguments[], char *const readable[],
                   struct clinux_limits limits);

enum { CLINUX_FILTER_MAX = 200 };

/// Makes the sandbox's filter of system calls. Returns the number of instructions; 0 if the processor isn't supported.
size_t clinux_make_filter(struct sock_filter filter[CLINUX_FILTER_MAX], int allows_execve);
#endif
