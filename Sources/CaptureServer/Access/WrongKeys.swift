import EgressGuard
import Foundation
import ReplayServer
import Synchronization

/// Counts wrong keys by sender, so that keys can't be tried one after the other. Right ones don't count.
final class WrongKeys: Sendable {
    /// Who sends keys, as far as it's known.
    enum Sender: Sendable, Hashable {
        /// Another computer.
        case device(IPAddress)
        /// A program on this computer, by its user.
        case program(ClientCheck.Verdict)

        /// Creates a device: an IPv6 address counts for its network.
        static func address(_ address: IPAddress) -> Sender { .device(address.devicePart) }
    }

    private let times = Mutex<[Sender: [ContinuousClock.Instant]]>([:])
    private static let countMax = 20
    private static let window = Duration.seconds(3600)
    /// An attacker with more addresses than this makes room for others.
    private static let sendersMax = 10_000

    /// Returns after how many seconds a sender can try again; `nil` for now.
    func wait(of sender: Sender, now: ContinuousClock.Instant = .now) -> Int? {
        times.withLock { times in
            let recent = (times[sender] ?? []).filter { $0 > now - Self.window }
            guard recent.count >= Self.countMax, let first = recent.suffix(Self.countMax).first else { return nil }
            return max(1, Int((first + Self.window - now).components.seconds))
        }
    }

    func add(_ sender: Sender, now: ContinuousClock.Instant = .now) {
        times.withLock { times in
            if times[sender] == nil, times.count >= Self.sendersMax {
                let oldest = times.min { ($0.value.last ?? now) < ($1.value.last ?? now) }
                if let oldest { times[oldest.key] = nil }
            }
            times[sender] = (times[sender] ?? []).filter { $0 > now - Self.window }.suffix(Self.countMax - 1) + [now]
        }
    }
}
