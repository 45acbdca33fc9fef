#if os(Linux)
import TestSupport
import Testing

@testable import ReplayServer

/// Layouts: nlmsghdr of linux/netlink.h (16 bytes), inet_diag_req_v2 (56) and inet_diag_msg (72) of linux/inet_diag.h.
struct SocketQueryTests {
    private static let query = SocketQuery(
        source: .init(ipv4: [127, 0, 0, 1], port: 0xC001), destination: .init(ipv4: [127, 0, 0, 1], port: 0x1F90))
    private static let v6 = SocketQuery(
        source: .init(address: Array(repeating: 0, count: 15) + [1], port: 0xC001),
        destination: .init(address: Array(repeating: 0, count: 15) + [1], port: 0x1F90))

    /// A reply of the kernel on a little-endian computer.
    private struct Reply {
        var type: UInt8 = 20
        var sequence: UInt8 = 7
        var family: UInt8 = 2
        var state: UInt8 = 1
        var ports: [UInt8] = [0xC0, 0x01, 0x1F, 0x90]
        var source: [UInt8] = [127, 0, 0, 1]
        var destination: [UInt8] = [127, 0, 0, 1]
        var user: [UInt8] = [0xD2, 0x04, 0, 0]
        var inode: [UInt8] = [9, 0, 0, 0]

        var bytes: [UInt8] {
            let addresses = [source, destination].flatMap { $0 + Array(repeating: 0, count: 16 - $0.count) }
            let identity = ports + addresses + Array(repeating: 0, count: 12)
            let message = [family, state, 0, 0] + identity + Array(repeating: 0, count: 12) + user + inode
            return [88, 0, 0, 0, type, 0, 0, 0, sequence, 0, 0, 0, 0, 0, 0, 0] + message
        }
    }

    private static func user(_ reply: Reply, _ query: SocketQuery = query) -> UInt32? {
        guard case .socket(let socket) = parsed(reply.bytes) else { return nil }
        return query.user(of: socket)
    }

    private static func parsed(_ bytes: [UInt8], sequence: UInt32 = 7) -> SocketReply? {
        bytes.withUnsafeBytes { SocketReply($0, sequence: sequence) }
    }

    @Test func queriesExactlyOneSocket() {
        let bytes = Self.query.message(sequence: 0x0102)
        #expect(bytes.count == 72)
        #expect(bytes[..<16] == [72, 0, 0, 0, 20, 0, 1, 0, 2, 1, 0, 0, 0, 0, 0, 0], "no NLM_F_DUMP")
        #expect(bytes[16..<20] == [2, 6, 0, 0], "AF_INET, IPPROTO_TCP")
        #expect(bytes[24..<28] == [0xC0, 0x01, 0x1F, 0x90])
        #expect(bytes[28..<44] == [127, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0])
        #expect(bytes[44..<60] == [127, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0])
        #expect(bytes[60..<72] == [1, 0, 0, 0, 255, 255, 255, 255, 255, 255, 255, 255], "interface, no cookie")
        let other = Self.v6.message(sequence: 1)
        #expect(other[16..<18] == [10, 6])
        #expect(other[28..<44] == [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1])
    }

    @Test func findsUserOfSocket() {
        #expect(Self.user(Reply()) == 1234)
        #expect(Self.user(Reply(user: [0, 0, 0, 0])) == 0)
        #expect(Self.user(Reply(user: [0xFE, 0xFF, 0, 0])) == 65_534)
    }

    /// A client that uses an IPv6 socket for an IPv4 address is shown as it is.
    @Test func addressesCanBeMapped() {
        let mapped = Array(repeating: UInt8(0), count: 10) + [0xFF, 0xFF, 127, 0, 0, 1]
        #expect(Self.user(Reply(family: 10, source: mapped, destination: mapped)) == 1234)
        let loopback = Array(repeating: UInt8(0), count: 15) + [1]
        #expect(Self.user(Reply(family: 10, source: loopback, destination: loopback), Self.v6) == 1234)
        #expect(Self.user(Reply(), Self.v6) == nil)
        #expect(Self.user(Reply(family: 10, source: loopback, destination: loopback)) == nil)
    }

    @Test func otherSocketIsIgnored() {
        #expect(Self.user(Reply(ports: [0xC0, 0x02, 0x1F, 0x90])) == nil)
        #expect(Self.user(Reply(ports: [0xC0, 0x01, 0x1F, 0x91])) == nil)
        #expect(Self.user(Reply(ports: [0x1F, 0x90, 0xC0, 0x01])) == nil, "our own end")
        #expect(Self.user(Reply(ports: [0xC0, 0x01, 0, 0], destination: [0, 0, 0, 0])) == nil, "one that listens")
        #expect(Self.user(Reply(source: [127, 0, 0, 2])) == nil)
        #expect(Self.user(Reply(family: 1)) == nil)
    }

    /// States: net/tcp_states.h. A client that has sent everything may have closed its sending side.
    @Test func onlyOpenSocketsCount() {
        let counting = (UInt8(0)...20).filter { Self.user(Reply(state: $0)) != nil }
        #expect(counting == [1, 4, 5], "ESTABLISHED, FIN_WAIT1, FIN_WAIT2")
        for state in UInt8(0)...20 {
            #expect(Self.user(Reply(state: state, user: [0, 0, 0, 0], inode: [0, 0, 0, 0])) == nil)
        }
    }

    @Test func incompleteReplyIsIgnored() {
        let whole = Reply().bytes
        for count in 0..<whole.count { #expect(Self.parsed(Array(whole[..<count])) == nil) }
        #expect(Self.parsed(whole + Array(repeating: 0, count: 36)) != nil, "attributes follow")
        for length in 0..<UInt8(88) { #expect(Self.parsed([length] + whole.dropFirst()) == nil, "length \(length)") }
        #expect(Self.parsed([89] + whole.dropFirst()) == nil, "more than there is")
        #expect(Self.parsed([88, 0, 0, 0x80] + whole.dropFirst(4)) == nil)
        #expect(Self.parsed(whole, sequence: 8) == nil, "a reply to another question")
        #expect(Self.parsed(Reply(type: 3).bytes) == nil, "NLMSG_DONE")
    }

    @Test func errorsAreReported() {
        let header: [UInt8] = [20, 0, 0, 0, 2, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0]
        #expect(Self.parsed(header + [0xFE, 0xFF, 0xFF, 0xFF]) == .failure(2), "ENOENT")
        #expect(Self.parsed(header + [0, 0, 0, 0x80]) == .failure(.min), "not to be negated")
        #expect(Self.parsed(header + [0xFE, 0xFF, 0xFF]) == nil)
    }

    @Test func damagedRepliesNeverMatchUser() {
        let whole = Reply().bytes
        for position in whole.indices {
            for bit in 0..<8 {
                var bytes = whole
                bytes[position] ^= 1 << UInt8(bit)
                guard case .socket(let socket) = Self.parsed(bytes), let user = Self.query.user(of: socket) else {
                    continue
                }
                // The bytes of the user, and those that don't affect it.
                #expect(user == 1234 || (80..<84).contains(position), "bit \(bit) of byte \(position)")
            }
        }
    }

    @Test(arguments: [false, true])
    func kernelReportsUserOfConnection(isIPv6: Bool) async throws {
        let port = try LoopbackPort(taking: 0)
        let owners = try SocketOwners()
        guard case .socket(let listener) = owners.reply(to: SocketQuery(listener: port)) else {
            Issue.record("the kernel doesn't know our own listener")
            return
        }
        #expect(listener.state == 10, "TCP_LISTEN")
        let unconnected = SocketQuery(
            source: isIPv6 ? Self.v6.source : Self.query.source,
            destination: .init(
                address: (isIPv6 ? Self.v6 : Self.query).destination.address, port: UInt16(port.number)))
        #expect(owners.reply(to: unconnected) == .failure(2), "ENOENT")
    }

    /// user_namespaces(7): 4294967295 IDs in the first namespace.
    @Test func fullNamespaceMapsAllUsers() {
        #expect(UserNamespace.mapsAllUsers("         0          0 4294967295\n"))
        #expect(!UserNamespace.mapsAllUsers("      1234       1234          1\n"))
        #expect(!UserNamespace.mapsAllUsers("         0       1000          1\n         1     100000      65536\n"))
        #expect(!UserNamespace.mapsAllUsers(""))
        #expect(!UserNamespace.mapsAllUsers("nonsense"))
    }
}
#endif
