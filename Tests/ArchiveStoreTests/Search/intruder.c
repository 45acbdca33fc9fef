// Takes the place of pdftotext in tests: tries what a hostile PDF could make it do. Each line of its input is an attempt
// with a path, a port or a process ID, and its output says for each whether it worked or with which error it failed.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

static int closed(int descriptor) { return descriptor < 0 ? -1 : close(descriptor); }
static void *nothing(void *value) { return value; }

static int reap(pid_t child) {
    if (child == 0) _exit(0);
    return child < 0 ? -1 : waitpid(child, NULL, 0);
}

static int read_file(const char *path) {
    char byte;
    int file = open(path, O_RDONLY);
    return file < 0 || read(file, &byte, 1) < 0 ? -1 : close(file);
}

static int list(const char *path) {
    DIR *folder = opendir(path);
    return folder && readdir(folder) ? closedir(folder) : -1;
}

static int network(const char *name, int port) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int end = socket(AF_INET, strcmp(name, "udp") == 0 ? SOCK_DGRAM : SOCK_STREAM, 0);
    if (end < 0) return -1;
    if (strcmp(name, "udp") == 0) return sendto(end, "x", 1, 0, (void *)&address, sizeof address);
    return strcmp(name, "listen") == 0 ? listen(end, 1) : connect(end, (void *)&address, sizeof address);
}

static int local_socket(const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strncpy(address.sun_path, path, sizeof address.sun_path - 1);
    int end = socket(AF_UNIX, SOCK_STREAM, 0);
    return end < 0 ? -1 : connect(end, (void *)&address, sizeof address);
}

static int leaked_descriptors(void) {
    for (int number = 3; number < 1024; number++)
        if (fcntl(number, F_GETFD) >= 0) return 0;
    errno = EBADF;
    return -1;
}

static int attempt(const char *name, const char *target) {
    const struct rlimit none = {RLIM_INFINITY, RLIM_INFINITY};
    const int number = atoi(target);
    char copy[4096];
    pthread_t thread;
    snprintf(copy, sizeof copy, "%s.moved", target);
#define IS(text) (strcmp(name, text) == 0)
    if (IS("read")) return read_file(target);
    if (IS("list")) return list(target);
    if (IS("create")) return closed(open(target, O_WRONLY | O_CREAT | O_EXCL, 0600));
    if (IS("append")) return closed(open(target, O_WRONLY | O_APPEND));
    if (IS("empty")) return closed(open(target, O_RDONLY | O_TRUNC));
    if (IS("truncate")) return truncate(target, 0);
    if (IS("rename")) return rename(target, copy);
    if (IS("link")) return link(target, copy);
    if (IS("unlink")) return unlink(target);
    if (IS("mkdir")) return mkdir(target, 0700);
    if (IS("chmod")) return chmod(target, 0777);
    if (IS("xattr")) return setxattr(target, "user.x", "x", 1, 0);
    if (IS("times")) return utimensat(AT_FDCWD, target, NULL, 0);
    if (IS("watch")) return inotify_add_watch(inotify_init(), target, IN_ALL_EVENTS);
    if (IS("connect") || IS("udp") || IS("listen")) return network(name, number);
    if (IS("local-socket")) return local_socket(target);
    if (IS("netlink")) return closed(socket(AF_NETLINK, SOCK_RAW, 0));
    if (IS("fork")) return reap(fork());
    if (IS("thread")) return (errno = pthread_create(&thread, NULL, nothing, NULL)) ? -1 : pthread_join(thread, NULL);
    if (IS("system")) return system("exit 0") == 0 ? 0 : (errno = ECHILD, -1);
    if (IS("execute")) return execl(target, target, "worked", NULL);
    if (IS("signal")) return kill(number, 0);
    if (IS("trace")) return ptrace(PTRACE_ATTACH, number, 0, 0) ? -1 : waitpid(number, NULL, 0);
    if (IS("namespace")) return unshare(CLONE_NEWUSER);
    if (IS("shared-memory")) return shmctl(shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600), IPC_RMID, NULL);
    if (IS("io-uring")) return closed(syscall(SYS_io_uring_setup, 1, (char[256]){0}));
    if (IS("memory-file")) return closed(memfd_create("x", 0));
    if (IS("limits")) return setrlimit(RLIMIT_CPU, &none);
    if (IS("outlive")) return prctl(PR_SET_PDEATHSIG, 0);
    if (IS("descriptors")) return leaked_descriptors();
    if (IS("hang")) {
        sigset_t all;
        sigfillset(&all);
        signal(SIGALRM, SIG_IGN);
        sigprocmask(SIG_BLOCK, &all, NULL);
        close(1);
        for (int value = 0;;) syscall(SYS_futex, &value, 0 /* FUTEX_WAIT */, 0, NULL);
    }
    if (IS("wait")) {
        puts("waiting");
        fflush(stdout);
        for (;;) sched_yield();
    }
    if (IS("home")) return getenv("HOME") ? 0 : (errno = ENOENT, -1);
    errno = EINVAL;
    return -1;
}

int main(int count, char **arguments) {
    char line[4096], name[64], target[4000];
    if (count < 3) return 0; // -v
    FILE *input = fopen(arguments[count - 2], "r");
    if (!input) return 1;
    fcntl(fileno(input), F_SETFD, FD_CLOEXEC);
    if (!fgets(line, sizeof line, input) || sscanf(line, "%63s %3999s", name, target) != 2) return 1;
    fclose(input);
    const char *result = attempt(name, target) < 0 ? strerrorname_np(errno) : "worked";
    printf("%s\n", result);
    return 0;
}
