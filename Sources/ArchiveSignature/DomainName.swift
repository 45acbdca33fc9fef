/// Comparisons of domain names in certificates. They are in ASCII: names in other scripts are written as A-labels.
enum DomainName {
    /// Returns whether a name in a certificate covers a domain. RFC 6125 §6.4.
    ///
    /// A wildcard must be the complete first label, and stands for exactly one label: `*.example.org` covers
    /// `www.example.org`, but not `example.org` or `a.b.example.org`. At least two labels must follow it.
    static func covers(_ name: String, _ domain: String) -> Bool {
        let (name, domain) = (labels(of: name), labels(of: domain))
        guard name.count == domain.count, !domain.contains([]), !name.contains([]) else { return false }
        guard name.first == [UInt8(ascii: "*")] else { return name == domain }
        return name.count >= 3 && name.dropFirst() == domain.dropFirst()
    }

    /// Returns whether a name is in the subtree of a name constraint. RFC 5280 §4.2.1.10.
    ///
    /// `example.org` contains itself and the names below it, `.example.org` only these, and an empty text every name.
    static func isIn(_ name: String, subtree: String) -> Bool {
        let (name, subtree) = (lowercased(name), lowercased(subtree))
        guard subtree.count < name.count else { return name == subtree }
        let dot = UInt8(ascii: ".")
        guard !subtree.isEmpty, name.suffix(subtree.count) == subtree[...] else { return subtree.isEmpty }
        return subtree.first == dot || name[name.count - subtree.count - 1] == dot
    }

    private static func labels(of name: String) -> [[UInt8]] {
        lowercased(name).split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).map(Array.init)
    }

    /// Changes only ASCII letters: Unicode has characters outside of ASCII with a lower case in ASCII.
    private static func lowercased(_ name: String) -> [UInt8] {
        name.utf8.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0 }
    }
}
