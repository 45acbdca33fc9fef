import Synchronization

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Notices Ctrl-C and a polite kill, so that work under way can clean up after itself.
///
/// From the first use on, the signals no longer end the program by themselves.
final class Interrupts: Sendable {
    private static let flag = Atomic(false)

    init(isInstalled: Bool) {
        guard isInstalled else { return }
        for number in [SIGINT, SIGTERM, SIGHUP] {
            signal(number) { _ in
                // Asked twice: at once. What is left behind the next start cleans up.
                if Interrupts.flag.exchange(true, ordering: .relaxed) { _exit(ExitStatus.interrupted.rawValue) }
            }
        }
    }

    var happened: Bool { Self.flag.load(ordering: .relaxed) }
}
