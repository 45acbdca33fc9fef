/// An index line with the positions of its JSON members, whose values aren't parsed.
struct CDXQueryLine {
    /// The line without its line ending, in UTF-8.
    let bytes: [UInt8]
    /// The position of the archive in the query.
    let source: Int
    private let keyEnd: Int
    private let timeEnd: Int
    /// The ranges of the standard members' values, by `CDXMember.place`. Strings include their quotes.
    private var usual: [Range<Int>?] = Array(repeating: nil, count: CDXMember.allCases.count)
    /// The other members in order, without duplicate names.
    private(set) var others: [(name: String, value: Range<Int>)] = []

    /// Parses a line; `nil` if it isn't UTF-8 or `CDXJEntry` refuses it.
    init?(_ bytes: [UInt8], source: Int, limits: Limits) {
        guard let shape = Self.shape(of: bytes), bytes[...].utf8Text != nil,
            CaptureTimestamp(digits: String(decoding: bytes[shape.time], as: UTF8.self)) != nil
        else { return nil }
        self.bytes = bytes
        self.source = source
        (keyEnd, timeEnd) = (shape.time.lowerBound - 1, shape.time.upperBound)
        var scanner = JSONScanner(bytes, from: timeEnd, depthMax: limits.jsonDepthMax)
        do throws(JSONProblem) {
            try scanner.object { (scanner, name) throws(JSONProblem) in
                scanner.skipSpace()
                let start = scanner.position
                try scanner.skipValue()
                if let member = CDXMember(rawValue: name) {
                    usual[member.place] = start..<scanner.position
                } else if others.count < limits.queryFieldsMax, !others.contains(where: { $0.name == name }) {
                    others.append((name, start..<scanner.position))
                }
            }
            try scanner.expectEnd()
        } catch {
            return nil
        }
        guard
            CDXJEntry.problem(
                url: plainText(.url), filename: plainText(.filename), offset: plainText(.offset),
                length: plainText(.length)) == nil
        else { return nil }
    }

    /// Returns the range of the timestamp if the line looks like a capture: a key, digits, and a JSON object to the
    /// end.
    static func shape(of bytes: [UInt8]) -> (time: Range<Int>, isWhole: Bool)? {
        guard let keyEnd = bytes.firstIndex(of: 0x20), keyEnd > 0 else { return nil }
        var end = keyEnd + 1
        while end < bytes.count, bytes[end].isASCIIDigit { end += 1 }
        guard end > keyEnd + 1, end < bytes.count, bytes[end] == 0x20 || bytes[end] == UInt8(ascii: "{") else {
            return nil
        }
        let last = bytes.last { $0 > 0x20 }
        return (keyEnd + 1..<end, last == UInt8(ascii: "}"))
    }

    var urlKey: ArraySlice<UInt8> { bytes[..<keyEnd] }
    var timestamp: ArraySlice<UInt8> { bytes[(keyEnd + 1)..<timeEnd] }

    /// Returns the JSON text of a field's value, or `nil` if it's missing or `null`.
    func token(of field: CDXField) -> ArraySlice<UInt8>? {
        let place: Range<Int>? =
            switch field {
            case .member(let member): usual[member.place]
            case .other(let name): others.first { $0.name == name }?.value
            case .urlKey, .timestamp, .source: nil
            }
        return place.map { bytes[$0] }.flatMap { $0.elementsEqual("null".utf8) ? nil : $0 }
    }

    /// Returns the value of a field as text. Objects and lists are returned as JSON.
    func value(of field: CDXField, sourceName: String) -> [UInt8]? {
        switch field {
        case .urlKey: return Array(urlKey)
        case .timestamp: return Array(timestamp)
        case .source: return Array(sourceName.utf8)
        case .member, .other: return token(of: field).map { Self.decoded($0) }
        }
    }

    /// Returns the value of a string, or of a number as written.
    private func plainText(_ member: CDXMember) -> String? {
        guard let token = token(of: .member(member)), let first = token.first,
            first == UInt8(ascii: "\"") || first == UInt8(ascii: "-") || first.isASCIIDigit
        else { return nil }
        return String(decoding: Self.decoded(token), as: UTF8.self)
    }

    static func decoded(_ token: ArraySlice<UInt8>) -> [UInt8] {
        guard token.first == UInt8(ascii: "\"") else { return Array(token) }
        let content = token.dropFirst().dropLast()
        guard content.contains(UInt8(ascii: "\\")) else { return Array(content) }
        var scanner = JSONScanner(Array(token), depthMax: 1)
        // The initializer has checked that the token is a string.
        return (try? scanner.string()).map { Array($0.utf8) } ?? Array(content)
    }
}
