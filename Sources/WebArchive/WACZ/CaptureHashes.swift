import Crypto

/// Hashes by which archives that may have captures of a URL are found without opening them.
///
/// Of each entry that a `CaptureMatcher` accepts, and of each candidate of a `FuzzyMatch`, an archive has a hash that is among
/// those of the matcher or the match. The reverse isn't true: different texts can have the same hash.
///
/// A hash is the first 32 bits of a SHA-256, so that URLs can't be chosen for their hashes without much work.
package struct CaptureHashes: Sendable {
    private var hashes: [UInt32] = []
    private var hosts: Set<String> = []
    /// The last hash of each kind: the captures of a URL follow one another.
    private var last: [Kind: UInt32] = [:]
    private let countMax: Int

    fileprivate enum Kind: UInt8 {
        /// An index key.
        case key
        /// A URL without the parts that `SURT.matches` ignores.
        case folded
        /// The same, without its query, of a URL that has one.
        case path
        /// A host, or a domain above it.
        case host

        func hash(_ text: some Sequence<UInt8>) -> UInt32 {
            let digest = SHA256.hash(data: [rawValue] + text)
            return digest.prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
        }
    }

    /// - Parameter countMax: The number of hashes at which collecting ends.
    package init(countMax: Int) {
        self.countMax = countMax
    }

    /// Adds an entry of an archive's index.
    ///
    /// - Returns: `false` if there are too many hashes.
    package mutating func add(_ entry: CDXJEntry) -> Bool {
        let folded = SURT.folded(entry.url)
        add(.key, entry.urlKey.utf8)
        if HTTPURLParts(entry.urlKey) != nil { add(.key, SURT.key(for: entry.requestURL).utf8) }
        // Almost all keys follow from the folded URL.
        if entry.urlKey != Self.key(ofFolded: folded) { add(.folded, folded) }
        if entry.url.utf8.contains(where: { $0 == UInt8(ascii: "?") }) {
            add(.path, SURT.folded(FuzzyMatch.withoutQuery(entry.url)))
        }
        if let host = Self.host(of: entry.url), hosts.insert(host).inserted {
            for domain in Self.domains(of: host) { add(.host, domain.utf8) }
        }
        return hashes.count <= countMax
    }

    private mutating func add(_ kind: Kind, _ text: some Sequence<UInt8>) {
        let hash = kind.hash(text)
        guard last[kind] != hash else { return }
        last[kind] = hash
        hashes.append(hash)
    }

    /// Returns the hashes, each once, in ascending order.
    package func sorted() -> [UInt32] {
        var sorted = hashes
        sorted.sort()
        var unique: [UInt32] = []
        unique.reserveCapacity(sorted.count)
        for hash in sorted where unique.last != hash { unique.append(hash) }
        return unique
    }

    /// Returns the key that most tools write for the URLs with a folded form.
    fileprivate static func key(ofFolded folded: [UInt8]) -> String {
        let text = String(decoding: folded, as: UTF8.self)
        return text.hasPrefix("//") ? SURT.key(for: "http:\(text)") : text
    }

    /// Returns the hashes of which the entries with a folded URL have one.
    fileprivate static func hashes(ofFolded folded: [UInt8]) -> [UInt32] {
        [Kind.key.hash(key(ofFolded: folded).utf8), Kind.folded.hash(folded)]
    }

    static func host(of url: String) -> String? {
        HTTPURLParts(url).map { Punycode.asciiHost($0.text($0.host)).lowercased() }
    }

    /// Returns a host, and the domains above it.
    private static func domains(of host: String) -> [Substring] {
        var rest = host[...]
        var domains = [rest]
        while let dot = rest.firstIndex(of: "."), domains.count < domainsMax {
            rest = rest[rest.index(after: dot)...]
            domains.append(rest)
        }
        return domains
    }

    private static let domainsMax = 128

    fileprivate static func hash(ofDomain domain: String) -> UInt32 { Kind.host.hash(withoutWWW(domain).utf8) }

    /// Returns hashes of the host of a URL, without `www.`, and of the domains above it that have a dot. Archives with
    /// captures of the host or the domain have them.
    package static func ofDomains(of url: String) -> [UInt32] {
        guard let host = host(of: url).map(withoutWWW) else { return [] }
        return domains(of: host).filter { $0 == host || $0.utf8.contains(UInt8(ascii: ".")) }.map {
            Kind.host.hash($0.utf8)
        }
    }

    private static func withoutWWW(_ host: String) -> String {
        let labels = host.split(separator: ".", omittingEmptySubsequences: false)
        let isWWW = labels.count > 1 && labels[0].hasPrefix("www") && labels[0].dropFirst(3).allSatisfy(\.isNumber)
        return isWWW ? labels.dropFirst().joined(separator: ".") : host
    }
}

extension CaptureMatcher {
    /// The hashes of which the entries that the matcher accepts have one.
    package var hashes: [UInt32] {
        (keys + ambiguousKeys).map { CaptureHashes.Kind.key.hash($0.utf8) }
            + CaptureHashes.hashes(ofFolded: SURT.folded(url))
    }
}

extension FuzzyMatch {
    /// The hashes of which all candidates have one; `nil` if they aren't known.
    package var hashes: [UInt32]? {
        if let path { return CaptureHashes.hashes(ofFolded: path) + [CaptureHashes.Kind.path.hash(path)] }
        return domain.map { [CaptureHashes.hash(ofDomain: $0)] }
    }
}
