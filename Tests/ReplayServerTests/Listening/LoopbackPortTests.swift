import Foundation
import TestSupport
import Testing

@testable import ReplayServer

struct LoopbackPortTests {
    @Test func portZeroOpensSamePortOnBothAddresses() throws {
        let port = try LoopbackPort(taking: 0)
        #expect(Set(port.sockets.keys) == [.v4, .v6])
        #expect(port.number > 0)
        for isIPv6 in [false, true] { _ = try HTTPConnection(port: port.number, isIPv6: isIPv6) }
    }

    @Test(arguments: [false, true])
    func portInUseIsRefusedWithHolder(isIPv6: Bool) throws {
        let taken = try TakenPort.alone(isIPv6: isIPv6)
        let error = #expect(throws: PortInUse.self) { _ = try LoopbackPort(taking: taken.port) }
        #expect(error?.port == taken.port)
        #expect(error?.address == (isIPv6 ? .v6 : .v4))
        // /proc changes while it is read, so the holder is sometimes unknown.
        let told = (0..<1000).lazy.compactMap { _ in Self.refusal(taken.port)?.holder }.first
        let holder = try #require(told)
        #expect(holder.contains("process \(ProcessInfo.processInfo.processIdentifier)"))
        let words = PortInUse(port: 80, address: isIPv6 ? .v6 : .v4, holder: "nginx (process 1)").description
        #expect(words == "port 80 is in use on \(isIPv6 ? "[::1]" : "127.0.0.1") by nginx (process 1)")
    }

    @Test(arguments: [false, true])
    func holderOfOtherAddressIsNotReported(isIPv6: Bool) throws {
        let taken = try TakenPort.alone(isIPv6: isIPv6)
        #expect(PortHolder.name(port: taken.port, address: isIPv6 ? .v4 : .v6) == nil)
    }

    private static func refusal(_ port: Int) -> PortInUse? {
        do {
            _ = try LoopbackPort(taking: port)
            return nil
        } catch {
            return error as? PortInUse
        }
    }

    /// Linux uses ports from 32768 for outgoing connections. A port that is closed for a moment mustn't be one of
    /// those.
    @Test func anyPortIsOutsideEphemeralRange() throws {
        let ports = try (0..<20).map { _ in try LoopbackPort.any() }
        #expect(Set(ports.map(\.number)).count == 20)
        #expect(ports.allSatisfy { (10_240..<16_384).contains($0.number) })
        for port in ports { #expect(Set(port.sockets.keys) == [.v4, .v6]) }
    }

    /// Not a port for outgoing connections, which another test could get in between. While another test starts a
    /// program, that has the socket for a moment.
    @Test func portIsReleasedWithValue() async throws {
        let number = try LoopbackPort.any().number
        let isReleased = try await eventually {
            do {
                return try LoopbackPort(taking: number).number == number
            } catch is PortInUse {
                return false
            }
        }
        #expect(isReleased)
    }

    /// Queued connections aren't lost, and a second program is refused immediately.
    @Test func portListensImmediately() throws {
        let port = try LoopbackPort(taking: 0)
        let error = #expect(throws: PortInUse.self) { _ = try LoopbackPort(taking: port.number) }
        #expect(error?.port == port.number)
    }

    /// What a service manager opens for this program must be loopback as well.
    @Test func inheritedLoopbackSocketsAreAccepted() throws {
        let opened = try LoopbackPort(taking: 0)
        let number = opened.number
        let inherited = try LoopbackPort(inheriting: opened.takeSockets())
        #expect(inherited.number == number)
        #expect(Set(inherited.sockets.keys) == [.v4, .v6])
    }

    @Test func socketsOfOtherAddressesAreRefused() throws {
        let everywhere = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(everywhere) }
        #expect(listen(everywhere, 1) == 0)
        #expect(throws: ListenFailure.self) { _ = try LoopbackPort(inheriting: [everywhere]) }
        let (one, other) = (try LoopbackPort(taking: 0), try LoopbackPort(taking: 0))
        let sockets = one.takeSockets() + other.takeSockets()
        defer { for socket in sockets { close(socket) } }
        #expect(throws: ListenFailure.self) { _ = try LoopbackPort(inheriting: sockets.map { dup($0) }) }
        #expect(throws: ListenFailure.self) { _ = try LoopbackPort(inheriting: []) }
    }
}
