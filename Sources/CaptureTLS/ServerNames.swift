/// The host names and IP addresses by which clients reach the server.
package struct ServerNames: Sendable, Hashable {
    /// The name of this computer, for people.
    package let hostName: String
    /// Host names, lower-case and sorted. `localhost` is one of them.
    package let dnsNames: [String]
    /// IP addresses, sorted. The loopback addresses are two of them.
    package let addresses: [HostAddress]
    /// Names that certificates can't have, as they were given.
    package let invalid: [String]

    /// - Parameters:
    ///   - hostName: The name of this computer, as the system knows it.
    ///   - names: Other host names or IP addresses, as configured.
    ///   - addresses: The IP addresses of this computer.
    package init(hostName: String, names: [String] = [], addresses: [String] = []) {
        self.hostName = hostName
        let configured = names.filter { HostAddress($0) == nil }.map { ($0, DNSName.normalized($0)) }
        invalid = configured.filter { $0.1.map { !DNSName.isSafe($0) } ?? true }.map { $0.0 }
        var found: Set = ["localhost"]
        found.formUnion(configured.compactMap { $0.1 })
        if let name = DNSName.normalized(hostName) {
            found.insert(name)
            // Multicast DNS, RFC 6762 §3: the first part of the name.
            found.insert("\(name.prefix { $0 != "." }).local")
        }
        found.remove("localhost.local")
        dnsNames = found.filter(DNSName.isSafe).sorted()
        let texts = addresses + names + ["127.0.0.1", "::1"]
        self.addresses = Set(texts.compactMap { HostAddress($0) }).sorted()
    }
}

/// Rules for host names in certificates.
enum DNSName {
    /// Returns the name in lower case, without a dot at its end; `nil` if it isn't a host name. RFC 1123 §2.1.
    static func normalized(_ text: String) -> String? {
        let name = (text.hasSuffix(".") ? String(text.dropLast()) : text).lowercased()
        guard (1...253).contains(name.utf8.count) else { return nil }
        let labels = name.split(separator: ".", omittingEmptySubsequences: false)
        return labels.allSatisfy(isLabel) ? name : nil
    }

    private static func isLabel(_ label: Substring) -> Bool {
        (1...63).contains(label.utf8.count) && label.first != "-" && label.last != "-"
            && label.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
                    true
                default: false
                }
            }
    }

    /// Whether the root may permit a name, which permits all names below it as well.
    ///
    /// A single word can be a top-level domain, such as `app`. These have only letters (RFC 1123 §2.1) or begin with `xn--`.
    static func isSafe(_ name: String) -> Bool {
        if name == "localhost" || name.contains(".") { return true }
        return !name.hasPrefix("xn--") && name.utf8.contains { $0 < UInt8(ascii: "a") }
    }

    /// Whether a name is a domain itself, or below it. RFC 5280 §4.2.1.10.
    static func isIn(_ name: String, domain: String) -> Bool {
        name == domain || name.hasSuffix("." + domain)
    }
}
