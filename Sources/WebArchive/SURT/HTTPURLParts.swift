/// The ranges of the parts of an `http` or `https` URL in its bytes. Nothing is decoded.
struct HTTPURLParts {
    let bytes: [UInt8]
    /// The host name or IP address.
    let host: Range<Int>
    /// The colon and the port number; empty for the default port of the scheme.
    let port: Range<Int>
    /// The path, including its first slash; may be empty.
    let path: Range<Int>
    /// The query, including its question mark; may be empty.
    let query: Range<Int>

    /// Whether all indexers make the same key for the URL, apart from `www.` and a trailing slash: a plain host name and port,
    /// no capital letters, nothing to escape or resolve, and at most one argument.
    var isUsual: Bool {
        let host = bytes[host]
        var hasLetter = false
        var previous = UInt8(ascii: ".")
        for byte in host {
            let isLetter = byte.isASCIILetter
            guard isLetter || byte.isASCIIDigit || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "."),
                byte != UInt8(ascii: ".") || previous != byte
            else { return false }
            hasLetter = hasLetter || isLetter
            previous = byte
        }
        let number = bytes[port].dropFirst()
        guard hasLetter, previous != UInt8(ascii: "."), !Self.hasTwoHyphens(host),
            number.first != UInt8(ascii: "0"), number.allSatisfy(\.isASCIIDigit)
        else { return false }
        previous = 0
        for byte in bytes[path] {
            guard Self.isPlain(byte), previous != UInt8(ascii: "/") || ![0x2E, 0x2F].contains(byte) else {
                return false
            }
            previous = byte
        }
        guard !query.isEmpty else { return true }
        let argument = bytes[query].dropFirst()
        // Indexers that re-encode queries change other marks, and a second or a missing equals sign.
        return argument.allSatisfy { Self.isPlain($0) && !"/,:;~".utf8.contains($0) } && query.count < 32
            && argument.lazy.filter { $0 == UInt8(ascii: "=") }.count == 1
    }

    /// The start of the authority, after the two slashes.
    var hostFieldStart: Int { bytes[4] == UInt8(ascii: ":") ? 7 : 8 }

    /// Parses a URL; `nil` for other schemes.
    init?(_ url: String) {
        let bytes = Array(url.utf8)
        let head = bytes.prefix(8).map { $0.asciiLowercased }
        let isSecure = head.elementsEqual("https://".utf8)
        guard isSecure || head.starts(with: "http://".utf8) else { return nil }
        let start = isSecure ? 8 : 7
        let end = bytes[start...].firstIndex(of: UInt8(ascii: "#")) ?? bytes.count
        let rest = bytes[start..<end]
        let authorityEnd = rest.firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") } ?? end
        let pathEnd = bytes[authorityEnd..<end].firstIndex(of: UInt8(ascii: "?")) ?? end
        let hostStart = bytes[start..<authorityEnd].lastIndex(of: UInt8(ascii: "@")).map { $0 + 1 } ?? start
        let bracket = bytes[hostStart..<authorityEnd].lastIndex(of: UInt8(ascii: "]")) ?? hostStart
        let hostEnd = bytes[bracket..<authorityEnd].firstIndex(of: UInt8(ascii: ":")) ?? authorityEnd
        let defaultPort = isSecure ? ":443" : ":80"
        let isDefault = hostEnd + 1 >= authorityEnd || bytes[hostEnd..<authorityEnd].elementsEqual(defaultPort.utf8)
        self.bytes = bytes
        host = hostStart..<hostEnd
        port = isDefault ? authorityEnd..<authorityEnd : hostEnd..<authorityEnd
        path = authorityEnd..<pathEnd
        query = pathEnd..<end
    }

    func text(_ range: Range<Int>) -> String {
        String(decoding: bytes[range], as: UTF8.self)
    }

    /// Returns the range of the first `www.`, or `www` with a number, in a URL.
    static func firstWWW(in bytes: [UInt8]) -> Range<Int>? {
        var next = bytes[...]
        while let found = next.firstRange(ofBytes: Array("www".utf8)) {
            if let range = www(in: bytes, at: found.lowerBound) { return range }
            next = bytes[(found.lowerBound + 1)...]
        }
        return nil
    }

    /// Returns the range of `www.`, or `www` with a number, at a position.
    static func www(in bytes: [UInt8], at start: Int) -> Range<Int>? {
        guard bytes[start...].starts(with: "www".utf8) else { return nil }
        let digits = bytes[(start + 3)...].prefix(while: \.isASCIIDigit)
        guard digits.endIndex < bytes.count, bytes[digits.endIndex] == UInt8(ascii: ".") else { return nil }
        return start..<digits.endIndex + 1
    }

    /// Returns whether a byte is a lower-case letter, a digit, or a mark that all indexers keep.
    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"),
            UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"), UInt8(ascii: "/"), UInt8(ascii: "="),
            UInt8(ascii: ","), UInt8(ascii: ":"), UInt8(ascii: ";"), UInt8(ascii: "+"):
            true
        default: false
        }
    }

    /// Returns whether a host contains `--`, as in labels that begin with `xn--`.
    private static func hasTwoHyphens(_ host: ArraySlice<UInt8>) -> Bool {
        zip(host, host.dropFirst()).contains { $0 == UInt8(ascii: "-") && $1 == UInt8(ascii: "-") }
    }
}
