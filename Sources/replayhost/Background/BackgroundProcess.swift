import ArchiveStore
import Foundation

#if canImport(Glibc)
import CLinux
import Glibc
#else
import Darwin
#endif

/// A program that goes on when this one ends: it leads a session of its own, so that no terminal takes it along.
final class BackgroundProgram {
    let processID: Int32
    private var status: Int32?

    /// - Parameters:
    ///   - output: Gets standard output and standard error; `nil` for nobody. Standard input is empty.
    ///   - inherited: A descriptor to leave open in it.
    /// - Throws: `StoreError` `failed` when it cannot be started.
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
        Self.closeOthersInPrograms()
        // Its own number stays when it is copied onto itself, but it is no longer closed at the start of the program.
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
        // Signals as a shell leaves them, whatever this program does with its own.
        var signals = sigset_t()
        sigfillset(&signals)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        posix_spawnattr_setflags(&attributes, session | Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK))
        var processID: pid_t = 0
        let words = ([program] + arguments).map { strdup($0) } + [nil]
        let environment = ProcessInfo.processInfo.environment.map { strdup("\($0)=\($1)") } + [nil]
        defer { for word in words + environment { free(word) } }
        let failure = posix_spawnp(&processID, program, &actions, &attributes, words, environment)
        guard failure == 0 else {
            throw StoreError(.failed, "cannot start \(program) (\(String(cString: strerror(failure))))")
        }
        self.processID = processID
    }

    /// What whoever called this program left open would stay open with the one in the background: the reader of a pipe would wait
    /// for as long as that runs, and a port be taken.
    private static func closeOthersInPrograms() {
        let open = (try? FileManager.default.contentsOfDirectory(atPath: "/dev/fd")) ?? []
        for number in open.compactMap({ Int32($0) }) where number > STDERR_FILENO {
            _ = fcntl(number, F_SETFD, FD_CLOEXEC)
        }
    }

    /// How it ended, as shells say it: its exit code, or 128 and a signal's number; `nil` while it runs.
    func exitCode() -> Int32? {
        if status == nil {
            var found: Int32 = 0
            if waitpid(processID, &found, WNOHANG) == processID { status = found }
        }
        return status.map { $0 & 0x7F == 0 ? ($0 >> 8) & 0xFF : 128 + ($0 & 0x7F) }
    }

    /// Ends it and the programs that it started: asks first, and kills what still runs after that time.
    func end(within seconds: Double) {
        // It leads a group of its own, whose number nobody else gets while a member runs.
        if exitCode() == nil { kill(-processID, SIGTERM) }
        let end = ContinuousClock.now + .seconds(seconds)
        while exitCode() == nil, ContinuousClock.now < end { usleep(20_000) }
        kill(-processID, SIGKILL)
        while exitCode() == nil { usleep(20_000) }
    }
}
