package import NIOCore

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// An IPv4 or IPv6 address: 4 or 16 bytes in network order.
package struct IPAddress: Sendable, Hashable, CustomStringConvertible {
    package let bytes: [UInt8]

    /// Reads an address as `inet_pton` does; `nil` if the text isn't one. No port, no brackets, no zone.
    package init?(_ text: String) {
        var found = [UInt8](repeating: 0, count: 16)
        if inet_pton(AF_INET, text, &found) == 1 {
            bytes = Array(found.prefix(4))
        } else if inet_pton(AF_INET6, text, &found) == 1 {
            bytes = found
        } else {
            return nil
        }
    }

    /// Returns the address of an IP socket address; `nil` for one of a unix socket.
    init?(_ address: SocketAddress) {
        guard let text = address.ipAddress else { return nil }
        self.init(text)
    }

    private init(bytes: some Sequence<UInt8>) { self.bytes = Array(bytes) }

    /// The address in its shortest form. RFC 5952.
    package var description: String { socketAddress(port: 0)?.ipAddress ?? "" }

    package func socketAddress(port: Int) -> SocketAddress? {
        try? SocketAddress(packedIPAddress: ByteBuffer(bytes: bytes), port: port)
    }

    /// Whether the address is reachable from everywhere.
    ///
    /// An IPv4 address inside of an IPv6 address counts too: translators and tunnels lead to it.
    ///
    /// Source: the special-purpose address registries of IANA (RFC 6890), the address families of RFC 4291, multicast
    /// (RFC 5771), 6to4 (RFC 3056) and translation (RFC 6052). Where a registry makes an exception in a larger block,
    /// the whole block is refused.
    package var isPublic: Bool {
        if bytes.count == 4 { return !Self.refused4.contains { $0.contains(self) } }
        if let embedded { return embedded.isPublic }
        return Self.globalUnicast.contains(self) && !Self.refused6.contains { $0.contains(self) }
    }

    /// Whether the address is of a network at home or at work: 10/8, 172.16/12, 192.168/16 (RFC 1918), 169.254/16 (RFC 3927),
    /// fc00::/7 (RFC 4193), fe80::/10 (RFC 4291 §2.5.6), or of this computer.
    package var isPrivate: Bool {
        isLoopback || Self.private4.contains { $0.contains(self) } || Self.private6.contains { $0.contains(self) }
    }

    /// Whether the address is of this computer: 127/8 or ::1.
    package var isLoopback: Bool { Self.loopback.contains { $0.contains(self) } }

    private static let private4 = ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "169.254.0.0/16"].map(Block.init)
    private static let private6 = ["fc00::/7", "fe80::/10"].map(Block.init)
    private static let loopback = ["127.0.0.0/8", "::1/128"].map(Block.init)

    /// The IPv4 address inside of a mapped, translated or 6to4 address; `nil` for others.
    var embedded: IPAddress? {
        if Self.mapped.contains(self) || Self.translated.contains(self) { return IPAddress(bytes: bytes[12...]) }
        return Self.sixToFour.contains(self) ? IPAddress(bytes: bytes[2..<6]) : nil
    }

    /// The name that reveals a network's translators: it has only IPv4 addresses, so its IPv6 addresses are made by one of them.
    /// RFC 7050 §3.
    static let translatorsName = "ipv4only.arpa"

    /// Returns the blocks from which this network translates to IPv4.
    ///
    /// - Parameter found: The addresses of `translatorsName`.
    static func translators(_ found: [IPAddress]) -> Set<Block> {
        let known = ["192.0.0.170", "192.0.0.171"].map { IPAddress($0) }
        let blocks = found.filter { $0.bytes.count == 16 }.flatMap { address in
            Block.translatorBits.map { Block(start: address, bits: $0) }
                .filter { known.contains(address.embedded(after: $0)) }
        }
        return Set(blocks)
    }

    /// The IPv4 address after the prefix of a translator. RFC 6052 §2.2.
    func embedded(after prefix: Block) -> IPAddress {
        // Bits 64 to 71 are left out.
        IPAddress(bytes: bytes.indices.filter { $0 >= prefix.bits / 8 && $0 != 8 }.prefix(4).map { bytes[$0] })
    }

    /// The IPv4 address that an IPv4-mapped IPv6 address stands for; any other address itself. RFC 4291 §2.5.5.2.
    package var unmapped: IPAddress { Self.mapped.contains(self) ? IPAddress(bytes: bytes[12...]) : self }

    /// The part of an address that stands for one device: all of IPv4, the first 64 bits of IPv6. A device chooses the other
    /// bits itself. RFC 4291 §2.5.1.
    package var devicePart: IPAddress {
        bytes.count == 4 ? self : IPAddress(bytes: bytes.prefix(8) + [UInt8](repeating: 0, count: 8))
    }

    private static let refused4 = [
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
        "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24",
        "224.0.0.0/4", "240.0.0.0/4",
    ].map(Block.init)

    private static let mapped = Block("::ffff:0:0/96")
    private static let translated = Block("64:ff9b::/96")
    private static let sixToFour = Block("2002::/16")
    /// All that IANA has assigned to hosts.
    private static let globalUnicast = Block("2000::/3")
    private static let refused6 = ["2001::/23", "2001:db8::/32", "3fff::/20"].map(Block.init)

    /// An address and the number of bits that all addresses of the block share. RFC 4632 §3.1.
    package struct Block: Sendable, Hashable {
        let start: IPAddress
        let bits: Int

        /// The lengths of prefixes of translators. RFC 6052 §2.2.
        static let translatorBits = [96, 64, 56, 48, 40, 32]

        init(start: IPAddress, bits: Int) { (self.start, self.bits) = (start, bits) }

        /// Creates the network to which an address of a network interface belongs.
        ///
        /// Homes and offices get several IPv6 networks with a common start, of 56 bits mostly (RFC 6177 §2): another one of
        /// them can be for guests or devices.
        ///
        /// - Parameter mask: The address with the bits of the network; `nil` if it isn't known.
        package init(networkOf address: IPAddress, mask: IPAddress?) {
            start = address
            let all = address.bytes.count * 8
            var bits = mask.map { $0.bytes.reduce(0) { $0 + $1.nonzeroBitCount } } ?? all
            // Some tunnels claim to be the whole Internet.
            if bits < 8 { bits = all }
            self.bits = address.bytes.count == 16 ? min(bits, 56) : min(bits, all)
        }

        /// - Parameter text: Must be valid.
        init(_ text: String) {
            let parts = text.split(separator: "/")
            guard parts.count == 2, let start = IPAddress(String(parts[0])), let bits = Int(parts[1]) else {
                preconditionFailure("\(text) isn't a block of addresses")
            }
            (self.start, self.bits) = (start, bits)
        }

        package func contains(_ address: IPAddress) -> Bool {
            guard address.bytes.count == start.bytes.count else { return false }
            let (whole, rest) = (bits / 8, bits % 8)
            guard address.bytes.prefix(whole) == start.bytes.prefix(whole) else { return false }
            return rest == 0 || (address.bytes[whole] ^ start.bytes[whole]) >> (8 - rest) == 0
        }
    }
}
