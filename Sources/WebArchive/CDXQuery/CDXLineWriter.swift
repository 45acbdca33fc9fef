/// Formats lines in the output format of a query.
struct CDXLineWriter {
    let query: CDXQuery
    let sourceNames: [String]
    /// Whether lines name their archive even if the query doesn't list that field.
    let namesSources: Bool
    /// Returns the target of a link: the replay URL for the name of an archive, a timestamp and a captured URL. If `nil`, links
    /// lead to the captured URLs, as in pywb without a replay prefix.
    let mementoURL: ((_ source: String, _ timestamp: String, _ url: String) -> String)?

    /// Returns a line in the output format, without a line ending.
    func text(of line: CDXQueryLine) -> [UInt8] {
        switch query.output {
        case .cdxj:
            var text = Self.escaped(line.urlKey)
            text.append(0x20)
            text += line.timestamp
            text.append(0x20)
            appendObject(of: line, leavingOutKey: true, to: &text)
            return text
        case .json:
            var text: [UInt8] = []
            appendObject(of: line, leavingOutKey: false, to: &text)
            return text
        case .text: return columns(of: line)
        case .link: return link(of: line)
        }
    }

    /// Returns the whole line as CDXJ, for filters without a field.
    func wholeLine(_ line: CDXQueryLine) -> [UInt8] {
        var text = Array(line.urlKey) + [0x20] + Array(line.timestamp) + [0x20]
        var members = JSONMembers()
        appendAll(of: line, to: &members)
        text += members.text
        return text
    }

    private func sourceName(of line: CDXQueryLine) -> String { sourceNames[line.source] }

    private func appendObject(of line: CDXQueryLine, leavingOutKey: Bool, to text: inout [UInt8]) {
        var members = JSONMembers()
        if let fields = query.fields {
            for requested in fields {
                switch requested.field {
                case .urlKey, .timestamp:
                    guard !leavingOutKey else { continue }
                    members.append(requested.name, text: requested.field == .urlKey ? line.urlKey : line.timestamp)
                case .source: members.append(requested.name, text: Array(sourceName(of: line).utf8)[...])
                case .member, .other:
                    if let token = line.token(of: requested.field) { members.append(requested.name, token: token) }
                }
            }
        } else {
            if !leavingOutKey {
                members.append("urlkey", text: line.urlKey)
                members.append("timestamp", text: line.timestamp)
            }
            appendAll(of: line, to: &members)
            if namesSources {
                let name = Array(sourceName(of: line).utf8)[...]
                members.append("source", text: name)
                members.append("source-coll", text: name)
            }
        }
        text += JSONText.escapingControls(members.text)
    }

    private func appendAll(of line: CDXQueryLine, to members: inout JSONMembers) {
        for member in CDXMember.allCases {
            if let token = line.token(of: .member(member)) { members.append(member.rawValue, token: token) }
        }
        for (name, value) in line.others { members.append(name, token: line.bytes[value]) }
    }

    private func columns(of line: CDXQueryLine) -> [UInt8] {
        let fields =
            query.fields?.map(\.field)
            ?? [.urlKey, .timestamp] + CDXMember.allCases.map { .member($0) } + (namesSources ? [.source] : [])
        var text: [UInt8] = []
        for (place, field) in fields.enumerated() {
            if place > 0 { text.append(0x20) }
            let value = line.value(of: field, sourceName: sourceName(of: line)) ?? []
            text += value.isEmpty ? [UInt8(ascii: "-")] : Self.escaped(value[...])
        }
        return text
    }

    private func link(of line: CDXQueryLine) -> [UInt8] {
        let url = String(decoding: line.value(of: .member(.url), sourceName: "") ?? [], as: UTF8.self)
        let timestamp = String(decoding: line.timestamp, as: UTF8.self)
        let source = sourceName(of: line)
        let target = mementoURL.map { $0(source, timestamp, url) } ?? url
        let safe = PercentEncoding.encoded(target.utf8) { byte in
            (0x21..<0x7F).contains(byte) && ![UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "\"")].contains(byte)
        }
        let time = CaptureTimestamp(digits: timestamp)?.httpDate ?? ""
        var text = "<\(String(decoding: safe, as: UTF8.self))>; rel=\"memento\"; datetime=\"\(time)\""
        if namesSources { text += "; collection=\"\(source)\"" }
        return Array(text.utf8)
    }

    /// Percent-encodes characters that would end a column or a line, control a terminal or reorder text.
    private static func escaped(_ text: some Collection<UInt8>) -> [UInt8] {
        guard !text.allSatisfy({ (0x21..<0x7F).contains($0) }) else { return Array(text) }
        var (rest, escaped) = (Array(text)[...], [UInt8]())
        while let first = rest.first {
            let length = first <= 0x20 ? 1 : JSONText.control(rest)?.length
            escaped += length.map { PercentEncoding.encoded(rest.prefix($0)) { _ in false } } ?? [first]
            rest = rest.dropFirst(length ?? 1)
        }
        return escaped
    }
}

/// Builds a JSON object with the same spacing as Python's `json`. RFC 8259.
private struct JSONMembers {
    private var bytes: [UInt8] = [UInt8(ascii: "{")]

    var text: [UInt8] { bytes + [UInt8(ascii: "}")] }

    /// Adds a member with the JSON text of its value. Numbers become strings, as in cdxj-indexer.
    mutating func append(_ name: String, token: ArraySlice<UInt8>) {
        guard let first = token.first, !token.elementsEqual("null".utf8) else { return }
        let isPlain = token.allSatisfy { $0 >= 0x20 }
        switch first {
        case UInt8(ascii: "\""):
            guard isPlain else { return append(name, text: CDXQueryLine.decoded(token)[...]) }
            start(name)
            bytes += token
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
            append(name, text: token)
        default:
            start(name)
            // Objects and lists stay unchanged. Control characters can only be white space or a writer's error.
            bytes += isPlain ? token : token.map { $0 < 0x20 ? 0x20 : $0 }[...]
        }
    }

    mutating func append(_ name: String, text: ArraySlice<UInt8>) {
        start(name)
        JSONText.appendQuoted(text, to: &bytes)
    }

    private mutating func start(_ name: String) {
        if bytes.count > 1 { bytes += ", ".utf8 }
        JSONText.appendQuoted(name.utf8, to: &bytes)
        bytes += ": ".utf8
    }
}
