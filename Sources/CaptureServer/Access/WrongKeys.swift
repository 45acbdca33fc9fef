import Foundation
import Synchronization

/// Counts wrong keys by IP address, so that keys can't be tried one after the other.
final class WrongKeys: Sendable {
    private let times = Mutex<[String: [ContinuousClock.Instant]]>([:])
    private static let countMax = 20
    private static let window = Duration.seconds(3600)
    /// An attacker with more addresses than this makes room for others.
    private static let addressesMax = 10_000

    /// Returns after how many seconds an address can try again; `nil` for now.
    func wait(of address: String, now: ContinuousClock.Instant = .now) -> Int? {
        times.withLock { times in
            let recent = (times[address] ?? []).filter { $0 > now - Self.window }
            guard recent.count >= Self.countMax, let first = recent.suffix(Self.countMax).first else { return nil }
            return max(1, Int((first + Self.window - now).components.seconds))
        }
    }

    func add(_ address: String, now: ContinuousClock.Instant = .now) {
        times.withLock { times in
            if times[address] == nil, times.count >= Self.addressesMax {
                let oldest = times.min { ($0.value.last ?? now) < ($1.value.last ?? now) }
                if let oldest { times[oldest.key] = nil }
            }
            times[address] = (times[address] ?? []).filter { $0 > now - Self.window }.suffix(Self.countMax - 1) + [now]
        }
    }
}
