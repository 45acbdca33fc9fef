package import EgressGuard
import Foundation

/// The addresses and names under which other computers reach this one.
package struct OwnAddresses: Sendable, Hashable {
    /// IPv4 first, and of those the ones of real network devices first. Without loopback, and without link-local IPv6, which
    /// needs a zone that no URL can have (RFC 6874 §1).
    package var addresses: [IPAddress]
    /// The host name, and the same with `.local` for multicast DNS (RFC 6762 §3), in lower case.
    package var names: [String]

    /// As the system knows it; empty if it isn't plain ASCII.
    package var hostName: String { names.first { !$0.hasSuffix(".local") } ?? names.first ?? "" }

    /// Reads them from the system.
    package static func current() -> OwnAddresses {
        var found: [(address: IPAddress, isVirtual: Bool)] = []
        var first: UnsafeMutablePointer<ifaddrs>?
        if getifaddrs(&first) == 0 {
            defer { freeifaddrs(first) }
            var next = first
            while let device = next?.pointee {
                next = device.ifa_next
                guard Int32(device.ifa_flags) & upFlag != 0, let address = address(of: device.ifa_addr),
                    !address.isLoopback, !address.isLinkLocal6
                else { continue }
                let name = String(cString: device.ifa_name)
                found.append((address, virtualPrefixes.contains(where: name.hasPrefix)))
            }
        }
        let ordered = found.filter { !$0.isVirtual } + found.filter(\.isVirtual)
        let addresses = ordered.map(\.address)
        return OwnAddresses(
            addresses: addresses.filter(\.isIPv4) + addresses.filter { !$0.isIPv4 }, names: hostNames())
    }

    /// The address for clients in the same network: the first private one.
    package var lan: IPAddress? { addresses.first { $0.isIPv4 && $0.isPrivate } ?? addresses.first }

    private static func address(of pointer: UnsafeMutablePointer<sockaddr>?) -> IPAddress? {
        guard let pointer else { return nil }
        var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
        let length: socklen_t
        switch Int32(pointer.pointee.sa_family) {
        case AF_INET: length = socklen_t(MemoryLayout<sockaddr_in>.size)
        case AF_INET6: length = socklen_t(MemoryLayout<sockaddr_in6>.size)
        default: return nil
        }
        guard getnameinfo(pointer, length, &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST) == 0 else {
            return nil
        }
        let bytes = text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        return IPAddress(String(decoding: bytes.prefix { $0 != UInt8(ascii: "%") }, as: UTF8.self))
    }

    private static func hostNames() -> [String] {
        var text = [CChar](repeating: 0, count: 256)
        guard gethostname(&text, text.count - 1) == 0 else { return [] }
        let bytes = text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        let name = String(decoding: bytes, as: UTF8.self).lowercased()
        let isPlain = name.unicodeScalars.allSatisfy {
            $0.isASCII && ($0.properties.isAlphabetic || "0123456789-.".unicodeScalars.contains($0))
        }
        guard !name.isEmpty, name != "localhost", isPlain else { return [] }
        let short = name.prefix { $0 != "." }
        return name.hasSuffix(".local") ? [String(short), name] : [name, "\(short).local"]
    }

    /// Bridges and tunnels of containers and virtual machines.
    private static let virtualPrefixes = ["docker", "br-", "veth", "virbr", "vmnet", "cni", "podman", "lxc"]
    #if os(Linux)
    private static let upFlag = Int32(IFF_UP)
    #else
    private static let upFlag = IFF_UP
    #endif
}
