import Foundation
import TestSupport
import Testing

@testable import ReplayServer

struct ListenerTests {
    @Test func portZeroIsOnePortOnBothAddresses() throws {
        let listeners = try Listener.plan(port: 0)
        #expect(listeners.map(\.address) == [.v4, .v6])
        #expect(Set(listeners.map(\.port)).count == 1)
        #expect(listeners[0].port > 0)
    }

    @Test(arguments: [false, true])
    func aTakenPortIsRefusedAndItsHolderNamed(isIPv6: Bool) throws {
        let taken = try TakenPort.alone(isIPv6: isIPv6)
        let error = #expect(throws: PortInUse.self) { _ = try Listener.plan(port: taken.port) }
        #expect(error?.port == taken.port)
        #expect(error?.address == (isIPv6 ? .v6 : .v4))
        // Who it is comes from /proc, which changes while it is read: now and then it does not tell.
        let told = (0..<10).lazy.compactMap { _ in Self.refusal(taken.port)?.holder }.first
        let holder = try #require(told)
        #expect(holder.contains("process \(ProcessInfo.processInfo.processIdentifier)"))
        let words = PortInUse(port: 80, address: isIPv6 ? .v6 : .v4, holder: "nginx (process 1)").description
        #expect(words == "port 80 is in use on \(isIPv6 ? "[::1]" : "127.0.0.1") by nginx (process 1)")
    }

    @Test(arguments: [false, true])
    func whoHasThePortOfTheOtherAddressIsNotNamed(isIPv6: Bool) throws {
        let taken = try TakenPort.alone(isIPv6: isIPv6)
        #expect(PortHolder.name(port: taken.port, address: isIPv6 ? .v4 : .v6) == nil)
    }

    private static func refusal(_ port: Int) -> PortInUse? {
        do {
            _ = try Listener.plan(port: port)
            return nil
        } catch {
            return error as? PortInUse
        }
    }
}
