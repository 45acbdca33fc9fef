import NIOCore
import Synchronization

/// Bounds the connections from the network, all together and of each IP address.
final class ConnectionLimits: Sendable {
    private struct State {
        var total = 0
        var byAddress: [String: Int] = [:]
    }
    private let state = Mutex(State())
    private let totalMax: Int
    private let addressMax: Int

    init(totalMax: Int = 256, addressMax: Int = 32) { (self.totalMax, self.addressMax) = (totalMax, addressMax) }

    /// Counts a connection until it closes.
    ///
    /// - Returns: `false` if there are too many already, and it isn't counted.
    func admit(_ channel: any Channel) -> Bool {
        let address = channel.remoteAddress?.ipAddress ?? ""
        let isAdmitted = state.withLock { state in
            guard state.total < totalMax, state.byAddress[address, default: 0] < addressMax else { return false }
            state.total += 1
            state.byAddress[address, default: 0] += 1
            return true
        }
        guard isAdmitted else { return false }
        channel.closeFuture.whenComplete { [self] _ in
            state.withLock { state in
                state.total -= 1
                let left = state.byAddress[address, default: 1] - 1
                state.byAddress[address] = left > 0 ? left : nil
            }
        }
        return true
    }
}
