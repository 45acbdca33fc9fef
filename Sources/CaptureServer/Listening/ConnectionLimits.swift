import EgressGuard
import NIOCore
import ReplayServer
import Synchronization

/// Bounds the connections from the network, all together and of each device, so that no device keeps others out.
///
/// When there are too many, an idle one is closed for a new one. Some are kept for devices that had a right key lately.
final class ConnectionLimits: Sendable {
    private struct Connection {
        let channel: any Channel
        let activity: RequestActivity
        /// `nil` if it isn't known.
        let device: IPAddress?

        var isIdle: Bool { !activity.isBusy }

        /// Whether nothing has happened for some time, even if there is a request.
        func isStalled(_ now: NIODeadline) -> Bool {
            isIdle || now - activity.lastProgress > ConnectionLimits.stallLimit
        }
    }

    private struct State {
        var open: [ObjectIdentifier: Connection] = [:]
        /// Devices that had a right key, and when.
        var known: [IPAddress: NIODeadline] = [:]

        func isKnown(_ device: IPAddress?, _ now: NIODeadline) -> Bool {
            device.flatMap { known[$0] }.map { now - $0 < ConnectionLimits.knownTime } ?? false
        }
    }
    private let state = Mutex(State())
    private let totalMax: Int
    private let deviceMax: Int
    /// For devices without a key.
    private let strangersMax: Int

    init(totalMax: Int = 256, deviceMax: Int = 32, strangersMax: Int = 192) {
        (self.totalMax, self.deviceMax, self.strangersMax) = (totalMax, deviceMax, strangersMax)
    }

    private static let knownTime = TimeAmount.hours(24)
    private static let knownMax = 1000
    private static let stallLimit = TimeAmount.seconds(10)

    /// Records that a right key came from an address.
    func recognize(_ address: IPAddress, now: NIODeadline = .now()) {
        state.withLock { state in
            if state.known[address.devicePart] == nil, state.known.count >= Self.knownMax,
                let oldest = state.known.min(by: { $0.value < $1.value })?.key
            {
                state.known[oldest] = nil
            }
            state.known[address.devicePart] = now
        }
    }

    /// Counts a connection until it closes. Closes another one if there are too many.
    ///
    /// - Returns: `false` if there are too many that are in use, and it isn't counted.
    func admit(_ channel: any Channel, _ activity: RequestActivity, now: NIODeadline = .now()) -> Bool {
        let address = channel.remoteAddress?.ipAddress.flatMap { IPAddress($0) }?.unmapped
        let connection = Connection(channel: channel, activity: activity, device: address?.devicePart)
        let (isAdmitted, closed): (Bool, (any Channel)?) = state.withLock { state in
            var closed: (any Channel)?
            switch place(for: connection.device, in: state, now) {
            case .free: break
            case .after(let other): closed = state.open.removeValue(forKey: other)?.channel
            case .none: return (false, nil)
            }
            state.open[ObjectIdentifier(channel)] = connection
            return (true, closed)
        }
        if let closed { SocketSide.close(closed) }
        if isAdmitted {
            channel.closeFuture.whenComplete { [self] _ in
                _ = state.withLock { $0.open.removeValue(forKey: ObjectIdentifier(channel)) }
            }
        }
        return isAdmitted
    }

    private enum Place {
        case free
        /// In place of another connection.
        case after(ObjectIdentifier)
        case none
    }

    private func place(for device: IPAddress?, in state: State, _ now: NIODeadline) -> Place {
        let own = state.open.filter { $0.value.device == device }
        let strangers = state.open.filter { !state.isKnown($0.value.device, now) }
        let stalled = strangers.filter { $0.value.isStalled(now) }
        let candidates: [ObjectIdentifier: Connection]
        if own.count >= deviceMax {
            candidates = own.filter(\.value.isIdle)
        } else if strangers.count >= strangersMax, !state.isKnown(device, now) {
            candidates = stalled
        } else if state.open.count >= totalMax {
            candidates = stalled.isEmpty ? state.open.filter(\.value.isIdle) : stalled
        } else {
            return .free
        }
        // Of the device with the most connections, the one that is idle for the longest time.
        let counts = Dictionary(state.open.values.map { ($0.device, 1) }, uniquingKeysWith: +)
        let last = candidates.min { one, other in
            let (more, fewer) = (counts[one.value.device] ?? 0, counts[other.value.device] ?? 0)
            return more == fewer ? one.value.activity.lastProgress < other.value.activity.lastProgress : more > fewer
        }
        return last.map { .after($0.key) } ?? .none
    }
}

/// The first handler of a connection. What it closes is closed at once; from further up, TLS would wait for the client first.
final class SocketSide: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    static func close(_ channel: any Channel) {
        channel.eventLoop.execute {
            guard let side = try? channel.pipeline.syncOperations.context(handlerType: SocketSide.self) else {
                return channel.close(promise: nil)
            }
            side.close(promise: nil)
        }
    }
}
