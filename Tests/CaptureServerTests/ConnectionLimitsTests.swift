import EgressGuard
import NIOCore
import NIOEmbedded
import ReplayServer
import Testing

@testable import CaptureServer

/// Which connections are closed for others. Real ones are in Tests/CaptureTests/test_slow_clients.py.
struct ConnectionLimitsTests {
    /// Of 8 connections, 6 are for devices without a key, and one device has at most 3.
    private let limits = ConnectionLimits(totalMax: 8, deviceMax: 3, strangersMax: 6)

    private func connect(_ address: String) throws -> (isAdmitted: Bool, channel: EmbeddedChannel) {
        let channel = EmbeddedChannel()
        try channel.connect(to: SocketAddress(ipAddress: address, port: 1)).wait()
        channel.remoteAddress = try SocketAddress(ipAddress: address, port: 1)
        return (limits.admit(channel, RequestActivity()), channel)
    }

    /// Connections that are closed, in their order.
    private func closed(_ channels: [EmbeddedChannel]) -> [Int] {
        for channel in channels { channel.embeddedEventLoop.run() }
        return channels.indices.filter { !channels[$0].isActive }
    }

    @Test func deviceClosesItsOwnOldestFirst() throws {
        let connections = try (0..<4).map { _ in try connect("192.168.1.2") }
        #expect(connections.allSatisfy { $0.isAdmitted })
        #expect(closed(connections.map(\.channel)) == [0])
    }

    /// RFC 4291 §2.5.1: a device chooses the last 64 bits itself.
    @Test func networkOfIPv6IsOneDevice() throws {
        let same = try ["1", "2", "ffff:ffff:ffff:ffff", "3"].map { end in
            try connect(end.contains(":") ? "2001:db8:0:1:\(end)" : "2001:db8:0:1::\(end)").channel
        }
        #expect(closed(same) == [0])
        let other = try connect("2001:db8:0:2::1").channel
        #expect(closed(same + [other]) == [0])
    }

    @Test func connectionsAreKeptForDevicesWithAKey() throws {
        let address = try #require(IPAddress("192.168.1.9"))
        limits.recognize(address)
        let crowd = try ["192.168.1.2", "192.168.1.3", "192.168.1.4"].flatMap { address in
            try (0..<3).map { _ in try connect(address).channel }
        }
        // The last three each closed one that is idle, of a device with more.
        #expect(closed(crowd).count == 3)
        let phone = try (0..<2).map { _ in try connect("192.168.1.9") }
        #expect(phone.allSatisfy { $0.isAdmitted })
        #expect(closed(crowd).count == 3, "there was a place for each")
        let third = try connect("192.168.1.9")
        #expect(third.isAdmitted)
        #expect(closed(crowd).count == 4, "one that is idle goes")
        #expect(closed(phone.map(\.channel)) == [])
    }

    @Test func closedConnectionsDontCount() throws {
        for _ in 0..<20 {
            let (isAdmitted, channel) = try connect("192.168.1.2")
            #expect(isAdmitted)
            try channel.close().wait()
            channel.embeddedEventLoop.run()
        }
        let others = try (0..<3).map { _ in try connect("192.168.1.2").channel }
        #expect(closed(others) == [])
    }
}
