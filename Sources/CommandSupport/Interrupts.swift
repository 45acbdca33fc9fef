import Foundation
import Synchronization

/// Records SIGINT, SIGTERM and SIGHUP, so that running work can clean up.
///
/// Once installed, the first signal no longer ends the program; a second one does.
package final class Interrupts: Sendable {
    private static let flag = Atomic(false)

    package init(isInstalled: Bool) {
        guard isInstalled else { return }
        for number in [SIGINT, SIGTERM, SIGHUP] {
            signal(number) { _ in
                // The second signal ends the program at once. The next start cleans up.
                if Interrupts.flag.exchange(true, ordering: .relaxed) { _exit(ExitStatus.interrupted.rawValue) }
            }
        }
    }

    /// Whether a signal has arrived.
    package var wereReceived: Bool { Self.flag.load(ordering: .relaxed) }
}
