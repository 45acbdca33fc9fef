import ArchiveStore
import Foundation

#if os(Linux)
import CLinux
#endif

/// A process in its own session, which keeps running after this program ends.
final class BackgroundProcess {
    let processID: Int32
    private var status: Int32?

    /// - Parameters:
    ///   - output: Receives standard output and standard error; `nil` discards them. Standard input is empty.
    ///   - inherited: A descriptor that stays open in the process.
    /// - Throws: `StoreError` `failed` when the program can't be started.
    init(
        _ program: String, _ arguments: [String], folder: String? = nil, output: Int32? = nil, inherited: Int32? = nil
    ) throws {
        #if canImport(Glibc)
        var actions = posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        let session = Int16(CLINUX_POSIX_SPAWN_SETSID)
        #else
        var actions: posix_spawn_file_actions_t?
        var attributes: posix_spawnattr_t?
        let session = Int16(POSIX_SPAWN_SETSID)
        #endif
        posix_spawn_file_actions_init(&actions)
        posix_spawnattr_init(&attributes)
        defer {
            posix_spawn_file_actions_destroy(&actions)
            posix_spawnattr_destroy(&attributes)
        }
        Self.closeInheritedDescriptors()
        // Copying a descriptor onto itself clears its close-on-exec flag.
        if let inherited { posix_spawn_file_actions_adddup2(&actions, inherited, inherited) }
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        for number in [STDOUT_FILENO, STDERR_FILENO] {
            if let output {
                posix_spawn_file_actions_adddup2(&actions, output, number)
            } else {
                posix_spawn_file_actions_addopen(&actions, number, "/dev/null", O_WRONLY, 0)
            }
        }
        if let folder { posix_spawn_file_actions_addchdir_np(&actions, folder) }
        // The process gets default signal handling, whatever this program has set.
        var signals = sigset_t()
        sigfillset(&signals)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        posix_spawnattr_setflags(&attributes, session | Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK))
        var processID: pid_t = 0
        let argv = ([program] + arguments).map { strdup($0) } + [nil]
        let environment = ProcessInfo.processInfo.environment.map { strdup("\($0)=\($1)") } + [nil]
        defer { for string in argv + environment { free(string) } }
        let failure = posix_spawnp(&processID, program, &actions, &attributes, argv, environment)
        guard failure == 0 else {
            throw StoreError(.failed, "can't start \(program) (\(String(cString: strerror(failure))))")
        }
        self.processID = processID
    }

    /// Marks all other descriptors close-on-exec.
    ///
    /// The background process would otherwise keep the caller's pipes and ports open.
    private static func closeInheritedDescriptors() {
        let open = (try? FileManager.default.contentsOfDirectory(atPath: "/dev/fd")) ?? []
        for number in open.compactMap({ Int32($0) }) where number > STDERR_FILENO {
            _ = fcntl(number, F_SETFD, FD_CLOEXEC)
        }
    }

    /// Returns the exit code, or 128 plus the number of the signal that ended it; `nil` while the process runs.
    func exitCode() -> Int32? {
        if status == nil {
            var found: Int32 = 0
            if waitpid(processID, &found, WNOHANG) == processID { status = found }
        }
        return status.map { $0 & 0x7F == 0 ? ($0 >> 8) & 0xFF : 128 + ($0 & 0x7F) }
    }

    /// Ends the process and its children with SIGTERM, then with SIGKILL after the given time.
    func end(within seconds: Double) {
        // The number of its process group isn't reused while a member runs.
        if exitCode() == nil { kill(-processID, SIGTERM) }
        let end = ContinuousClock.now + .seconds(seconds)
        while exitCode() == nil, ContinuousClock.now < end { usleep(20_000) }
        kill(-processID, SIGKILL)
        while exitCode() == nil { usleep(20_000) }
    }
}
