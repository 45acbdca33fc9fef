import SwiftASN1
import X509

/// The names for which a root may sign certificates: its name constraints. RFC 5280 §4.2.1.10.
struct PermittedNames: Sendable, Hashable {
    /// Domains, each with all names below it.
    let domains: [String]
    /// Each an address and a mask of the same length.
    let ranges: [[UInt8]]

    /// What a new root permits: private IP addresses, `.local`, `localhost`, and the names of the server.
    init(_ names: ServerNames) {
        let own = names.dnsNames.filter { !DNSName.isIn($0, domain: "local") && $0 != "localhost" }
        domains = ["local", "localhost"] + own
        ranges = Self.privateRanges
    }

    /// - Throws: If the certificate's name constraints can't be read.
    init?(_ certificate: Certificate) throws {
        guard let constraints = try certificate.extensions.nameConstraints else { return nil }
        domains = Array(constraints.permittedDNSDomains)
        ranges = constraints.permittedIPRanges.map { Array($0.bytes) }
    }

    /// Of mail addresses and URIs, only those of a host that never exists (RFC 6761 §6.4) are permitted: without an entry, all
    /// would be. Excluded subtrees can't name all of them in a way that all programs understand.
    var constraints: NameConstraints {
        NameConstraints(
            permittedDNSDomains: domains,
            permittedIPRanges: ranges.map { ASN1OctetString(contentBytes: $0[...]) },
            permittedEmailAddresses: [Self.nonexistentHost], permittedURIDomains: [Self.nonexistentHost])
    }

    private static let nonexistentHost = "nobody.invalid"

    func permits(_ name: String) -> Bool { domains.contains { DNSName.isIn(name, domain: $0) } }

    func permits(_ address: HostAddress) -> Bool {
        ranges.contains { range in
            let bytes = address.bytes
            guard range.count == 2 * bytes.count else { return false }
            return bytes.indices.allSatisfy { bytes[$0] & range[bytes.count + $0] == range[$0] }
        }
    }

    /// Private (RFC 1918), link-local (RFC 3927, RFC 4291 §2.5.6), loopback, and unique local addresses (RFC 4193).
    private static let privateRanges: [[UInt8]] = [
        ("10.0.0.0", 8), ("172.16.0.0", 12), ("192.168.0.0", 16), ("169.254.0.0", 16), ("127.0.0.0", 8), ("fc00::", 7),
        ("fe80::", 10), ("::1", 128),
    ].map { start, bits in
        let bytes = HostAddress(start)?.bytes ?? []
        return bytes
            + bytes.indices.map { index in
                let count = min(8, max(0, bits - 8 * index))
                return count == 0 ? 0 : UInt8.max << UInt8(8 - count)
            }
    }
}
