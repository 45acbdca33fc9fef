/// A URL as parsed by Python's `surt` 0.3.1, which made the expected keys in the tests.
struct PythonSURT {
    private let scheme: String
    /// The host in lower case, including `www.`; empty if the URL has none.
    private let host: String
    private let port: Int?
    private let path: [UInt8]
    private let query: [UInt8]

    /// Parses a URL; `nil` if it's empty or its port isn't a number.
    init?(_ url: String) {
        var bytes = Self.trimmed(url)
        guard !bytes.isEmpty else { return nil }
        if Self.schemeEnd(bytes) == nil { bytes = Array("http://".utf8) + bytes }
        Self.dropRepeatedScheme(&bytes)
        guard let colon = Self.schemeEnd(bytes) else { return nil }
        scheme = String(decoding: bytes[..<colon], as: UTF8.self).lowercased()
        let end = bytes.firstIndex(of: UInt8(ascii: "#")) ?? bytes.count
        let rest = bytes[min(colon + 1, end)..<end]
        let queryStart = rest.firstIndex(of: UInt8(ascii: "?")) ?? end
        var path = Array(rest[..<queryStart])
        let authority = Self.takeAuthority(&path, isHTTP: scheme.hasPrefix("http"))
        guard let (name, number) = Self.hostAndPort(authority) else { return nil }
        let defaultPort = scheme == "http" ? 80 : scheme == "https" ? 443 : 0
        host = Self.canonicalHost(name)
        port = number == defaultPort ? nil : number
        self.path = Self.canonicalPath(path, hasHost: !host.isEmpty)
        query = Self.canonicalQuery(Array(bytes[min(queryStart + 1, end)..<end]))
    }

    func key(_ form: SURT.Form) -> String {
        var path = path
        if form.dropsTrailingSlash, path.count > 1, path.last == UInt8(ascii: "/") { path.removeLast() }
        if path.isEmpty, !query.isEmpty { path = [UInt8(ascii: "/")] }
        let tail = String(decoding: path + (query.isEmpty ? [] : [UInt8(ascii: "?")] + query), as: UTF8.self)
        guard !host.isEmpty else { return "\(scheme):\(tail)" }
        var hostForm = form
        hostForm.dropsWWW = form.dropsWWW && scheme != "dns"
        return "\(SURT.reversed(host, hostForm))\(port.map { ":\($0)" } ?? ""))\(tail)"
    }

    private static func trimmed(_ url: String) -> [UInt8] {
        let spaces: Set<UInt8> = [0x20, 0x09, 0x0A, 0x0B, 0x0C, 0x0D]
        var bytes = Array(url.utf8)[...]
        while let first = bytes.first, spaces.contains(first) { bytes.removeFirst() }
        while let last = bytes.last, spaces.contains(last) { bytes.removeLast() }
        return bytes.filter { ![0x09, 0x0A, 0x0D].contains($0) }
    }

    /// Returns the position of the colon after a scheme. RFC 3986 §3.1.
    private static func schemeEnd(_ bytes: [UInt8]) -> Int? {
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), colon > 0 else { return nil }
        for (position, byte) in bytes[..<colon].enumerated() {
            let isOther = byte.isASCIIDigit || "+-.".utf8.contains(byte)
            guard byte.isASCIILetter || (position > 0 && isOther) else { return nil }
        }
        return colon
    }

    /// Removes a repeated scheme: `http://https://a/` becomes `https://a/`.
    private static func dropRepeatedScheme(_ bytes: inout [UInt8]) {
        func length(at start: Int) -> Int? {
            let rest = bytes[start...]
            return rest.starts(with: "http://".utf8) ? 7 : rest.starts(with: "https://".utf8) ? 8 : nil
        }
        var start = 0
        while let first = length(at: start), length(at: start + first) != nil { start += first }
        bytes.removeFirst(start)
    }

    private static func takeAuthority(_ path: inout [UInt8], isHTTP: Bool) -> [UInt8] {
        let slash = UInt8(ascii: "/")
        var authority: [UInt8] = []
        if path.starts(with: [slash, slash]) {
            let end = path[2...].firstIndex(of: slash) ?? path.count
            authority = Array(path[2..<end])
            path.removeFirst(end)
        }
        if isHTTP, authority.isEmpty, !path.isEmpty {
            let rest = path.drop { $0 == slash }
            let end = rest.firstIndex(of: slash) ?? rest.endIndex
            authority = Array(rest[..<end])
            path = [slash] + rest[end...].dropFirst()
        }
        return authority
    }

    /// Returns what `urllib.parse` takes for host and port. A `[` begins the host wherever it stands, and may have no `]`.
    private static func hostAndPort(_ authority: [UInt8]) -> ([UInt8], Int?)? {
        let colon = UInt8(ascii: ":")
        var place = authority[(authority.lastIndex(of: UInt8(ascii: "@")).map { $0 + 1 } ?? 0)...]
        while place.last == colon { place.removeLast() }
        let open = place.firstIndex(of: UInt8(ascii: "["))
        let start = open.map { $0 + 1 } ?? place.startIndex
        let end = place[start...].firstIndex(of: open == nil ? colon : UInt8(ascii: "]")) ?? place.endIndex
        guard let portStart = place[end...].firstIndex(of: colon) else { return (Array(place[start..<end]), nil) }
        guard let number = UInt16(String(decoding: place[(portStart + 1)...], as: UTF8.self)) else { return nil }
        return (Array(place[start..<end]), Int(number))
    }

    private static func canonicalHost(_ name: [UInt8]) -> String {
        let host = Punycode.asciiHost(String(decoding: PercentEncoding.decodedRepeatedly(name), as: UTF8.self))
        var labels = withoutDoubleDots(host.lowercased())[...]
        while labels.hasPrefix(".") { labels.removeFirst() }
        while labels.hasSuffix(".") { labels.removeLast() }
        guard !labels.isEmpty, labels.utf8.allSatisfy(\.isASCIIDigit) else {
            return String(decoding: PercentEncoding.encoded(labels.utf8, keeping: isKept), as: UTF8.self)
        }
        // A host of only digits is an IP address as a number, of which 32 bits count.
        let number = labels.utf8.reduce(UInt32(0)) { $0 &* 10 &+ UInt32($1 - 0x30) }
        return [24, 16, 8, 0].map { String(number >> $0 & 255) }.joined(separator: ".")
    }

    /// Returns a host with a dot for each two, in one pass.
    private static func withoutDoubleDots(_ host: String) -> String {
        var bytes: [UInt8] = []
        var isAfterDot = false
        for byte in host.utf8 {
            let isDot = byte == UInt8(ascii: ".")
            if !isDot || !isAfterDot { bytes.append(byte) }
            isAfterDot = isDot && !isAfterDot
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func canonicalPath(_ path: [UInt8], hasHost: Bool) -> [UInt8] {
        let decoded = PercentEncoding.decodedRepeatedly(path)
        let resolved = hasHost ? resolved(decoded) : decoded
        let lowered = PercentEncoding.encoded(resolved, keeping: isKept).map { $0.asciiLowercased }
        return SessionIDs.removed(fromPath: lowered)
    }

    private static func resolved(_ path: [UInt8]) -> [UInt8] {
        let slash = UInt8(ascii: "/")
        let dot = UInt8(ascii: ".")
        var kept: [ArraySlice<UInt8>] = []
        for segment in path.split(separator: slash, omittingEmptySubsequences: false).dropFirst() {
            if segment.elementsEqual([dot, dot]), !kept.isEmpty {
                kept.removeLast()
            } else if !segment.elementsEqual([dot]) {
                kept.append(segment)
            }
        }
        let folders = kept.dropLast().filter { !$0.isEmpty }
        return [slash] + folders.flatMap { $0 + [slash] } + (kept.last ?? [])
    }

    private static func canonicalQuery(_ query: [UInt8]) -> [UInt8] {
        let escaped = PercentEncoding.encoded(PercentEncoding.decodedRepeatedly(query), keeping: isKept)
        let lowered = SessionIDs.removed(fromQuery: escaped).map { $0.asciiLowercased }
        let separator = UInt8(ascii: "&")
        guard lowered.count > 1, lowered.contains(separator) else { return lowered }
        let sorted = lowered.split(separator: separator, omittingEmptySubsequences: false).map(Argument.init).sorted()
        return Array(sorted.map(\.text).joined(separator: [separator]))
    }

    /// An argument of a query. Names are compared first, so that `a=2` comes before `a-b=1`, and `a` before `a=`.
    private struct Argument: Comparable {
        let text: ArraySlice<UInt8>
        /// The position of the equals sign.
        let equals: Int?

        init(_ text: ArraySlice<UInt8>) {
            self.text = text
            equals = text.firstIndex(of: UInt8(ascii: "="))
        }

        private var name: ArraySlice<UInt8> { text[..<(equals ?? text.endIndex)] }

        static func < (left: Argument, right: Argument) -> Bool {
            if !left.name.elementsEqual(right.name) { return left.name.lexicographicallyPrecedes(right.name) }
            guard let first = left.equals, let second = right.equals else {
                return left.equals == nil && right.equals != nil
            }
            return left.text[(first + 1)...].lexicographicallyPrecedes(right.text[(second + 1)...])
        }
    }

    private static func isKept(_ byte: UInt8) -> Bool {
        (0x21...0x7E).contains(byte) && byte != UInt8(ascii: "#") && byte != UInt8(ascii: "%")
    }
}
