#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// An IPv4 or IPv6 address of this computer: 4 or 16 bytes in network order.
package struct HostAddress: Sendable, Hashable, Comparable, CustomStringConvertible {
    package let bytes: [UInt8]

    /// Reads an address; `nil` if the text isn't one. A zone (`%eth0`), which certificates can't have, is left out.
    package init?(_ text: String) {
        let text = String(text.prefix { $0 != "%" })
        var found = [UInt8](repeating: 0, count: 16)
        if inet_pton(AF_INET, text, &found) == 1 {
            bytes = Array(found.prefix(4))
        } else if inet_pton(AF_INET6, text, &found) == 1 {
            bytes = found
        } else {
            return nil
        }
    }

    init?(bytes: [UInt8]) {
        guard bytes.count == 4 || bytes.count == 16 else { return nil }
        self.bytes = bytes
    }

    package var description: String {
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        guard inet_ntop(bytes.count == 4 ? AF_INET : AF_INET6, bytes, &text, socklen_t(text.count)) != nil else {
            return ""
        }
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// IPv4 addresses first.
    package static func < (lhs: HostAddress, rhs: HostAddress) -> Bool {
        if lhs.bytes.count != rhs.bytes.count { return lhs.bytes.count < rhs.bytes.count }
        return lhs.bytes.lexicographicallyPrecedes(rhs.bytes)
    }
}
