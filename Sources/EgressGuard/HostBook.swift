import NIOCore
import NIOPosix
import Synchronization

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// The addresses of hosts: each is resolved once, so that a name can't lead elsewhere the second time.
final class HostBook: Sendable {
    private let rules: EgressRules
    private let names: EgressNames
    private let known = Mutex<[String: [IPAddress]]>([:])

    init(rules: EgressRules, names: EgressNames) { (self.rules, self.names) = (rules, names) }

    /// Returns the addresses to connect to, in the resolver's order.
    ///
    /// - Throws: `Refused`
    func addresses(of destination: Destination) async throws -> [IPAddress] {
        let (host, port) = (destination.host, destination.port)
        let isException = rules.allowed.contains(EgressRules.Exception(host: host, port: port))
        guard isException || rules.ports.contains(port) && !rules.refusedHosts.contains(host) else {
            throw Refused(.denied)
        }
        let addresses = try await resolve(host)
        guard !addresses.isEmpty else { throw Refused(.unknownHost) }
        guard !isException else { return addresses }
        // Read each time, since networks change.
        let own = try names.own()
        let translators = try await translators(of: addresses)
        // One address that isn't public is enough: a tool would take any of them.
        let isPublic = addresses.allSatisfy { address in
            let translated = translators.filter { $0.contains(address) }.map(address.embedded(after:))
            return ([address, address.embedded].compactMap { $0 } + translated).allSatisfy { meant in
                meant.isPublic && !own.contains { $0.contains(meant) }
            }
        }
        guard isPublic else { throw Refused(.notPublic) }
        return addresses
    }

    /// Returns the blocks from which this network translates addresses to IPv4. Asks only if one of the addresses could be in them.
    private func translators(of addresses: [IPAddress]) async throws -> Set<IPAddress.Block> {
        let isAsked = addresses.contains { $0.bytes.count == 16 && $0.embedded == nil && $0.isPublic }
        return isAsked ? IPAddress.translators(try await resolve(IPAddress.translatorsName)) : []
    }

    private func resolve(_ host: String) async throws -> [IPAddress] {
        if let found = known.withLock({ $0[host] }) { return found }
        let found = try await names.resolve(host)
        // If two connections asked at once, both take the first answer.
        return known.withLock { known in
            if let first = known[host] { return first }
            // A resolver that doesn't know translators is asked once.
            if !found.isEmpty || host == IPAddress.translatorsName { known[host] = found }
            return found
        }
    }
}

/// Where a guard gets addresses from.
package struct EgressNames: Sendable {
    /// Returns a host's addresses; none if there are none.
    package var resolve: @Sendable (String) async throws -> [IPAddress]
    /// Returns the networks of this computer.
    package var own: @Sendable () throws -> Set<IPAddress.Block>

    package init(
        resolve: @escaping @Sendable (String) async throws -> [IPAddress],
        own: @escaping @Sendable () throws -> Set<IPAddress.Block>
    ) {
        (self.resolve, self.own) = (resolve, own)
    }

    /// Those of the system.
    package static let system = EgressNames(
        resolve: { host in
            try await abandonable { done in
                NIOThreadPool.singleton.submit { state in done(state == .active ? lookUp(host) : []) }
            }
        },
        own: systemNetworks)

    /// Those of a hosts file, and no others: nothing is asked. hosts(5)
    package static func hosts(_ text: String) -> EgressNames {
        var table: [String: [IPAddress]] = [:]
        for line in text.split(whereSeparator: \.isNewline) {
            let fields = line.prefix { $0 != "#" }.split(whereSeparator: \.isWhitespace).map { $0.lowercased() }
            guard let address = fields.first.flatMap({ IPAddress($0) }) else { continue }
            for name in fields.dropFirst() { table[name, default: []].append(address) }
        }
        let known = table
        return EgressNames(
            resolve: { known[$0] ?? lookUp($0, flags: AI_NUMERICHOST) }, own: systemNetworks)
    }

    private static let systemNetworks: @Sendable () throws -> Set<IPAddress.Block> = {
        Set(
            try System.enumerateDevices().compactMap { device in
                device.address.flatMap { IPAddress($0) }.map {
                    IPAddress.Block(networkOf: $0, mask: device.netmask.flatMap { IPAddress($0) })
                }
            })
    }

    /// Blocks, unless the flags forbid questions.
    private static func lookUp(_ host: String, flags: Int32 = 0) -> [IPAddress] {
        var hints = addrinfo()
        hints.ai_family = AF_UNSPEC
        hints.ai_flags = flags
        #if canImport(Glibc)
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        #else
        hints.ai_socktype = SOCK_STREAM
        #endif
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(host, nil, &hints, &list) == 0 else { return [] }
        defer { freeaddrinfo(list) }
        var found: [IPAddress] = []
        var next = list
        while let entry = next {
            if let address = entry.pointee.ai_addr {
                if entry.pointee.ai_family == AF_INET {
                    found += address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { one in
                        IPAddress(SocketAddress(one.pointee)).map { [$0] } ?? []
                    }
                } else if entry.pointee.ai_family == AF_INET6 {
                    found += address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { one in
                        IPAddress(SocketAddress(one.pointee)).map { [$0] } ?? []
                    }
                }
            }
            next = entry.pointee.ai_next
        }
        return found
    }
}
