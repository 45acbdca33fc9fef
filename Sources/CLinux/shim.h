// Declarations that the C library has only with _GNU_SOURCE, which Swift's import doesn't set.
#pragma once
#include <fcntl.h>
#include <spawn.h>
#include <sys/types.h>
#include <sys/uio.h>

#ifdef __linux__
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

/// O_TMPFILE: a file without a name in a folder. open(2).
enum { CLINUX_O_TMPFILE = 020000000 | O_DIRECTORY };

/// F_SETLEASE: asks for a lease of a file. fcntl(2).
enum { CLINUX_F_SETLEASE = 1024 };

/// POSIX_SPAWN_SETSID: starts the process in a new session.
enum { CLINUX_POSIX_SPAWN_SETSID = 0x80 };

/// RWF_NOWAIT: fail with EAGAIN instead of waiting for the disk if the bytes aren't in the page cache.
enum { CLINUX_RWF_NOWAIT = 0x00000008 };
#endif
