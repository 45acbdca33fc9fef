/// A value in a configuration file, and where it is.
struct ConfigurationNode {
    enum Content {
        /// Plain text isn't in quotes, so it can be a number, true or false, or nothing.
        case scalar(String, isPlain: Bool)
        case list([ConfigurationNode])
        case section([Entry])
        /// It was refused already.
        case refused
    }

    /// A key with its value.
    struct Entry {
        let key: String
        let place: Place
        let node: ConfigurationNode
    }

    /// Line and column, from 1.
    struct Place: Hashable {
        var line = 1
        var column = 1
    }

    let content: Content
    let place: Place

    /// Whether the key has no value: YAML 1.1 and 1.2, the null type.
    var isNull: Bool {
        guard case .scalar(let text, isPlain: true) = content else { return false }
        return ["", "~", "null", "Null", "NULL"].contains(text)
    }

    var isEmptyList: Bool {
        guard case .list(let nodes) = content else { return false }
        return nodes.isEmpty
    }

    /// The words of YAML 1.1; those of YAML 1.2 are among them.
    var bool: Bool? {
        guard case .scalar(let text, isPlain: true) = content else { return nil }
        let words = [
            text, text.lowercased(), text.uppercased(), text.prefix(1).uppercased() + text.dropFirst().lowercased(),
        ]
        guard words[1...].contains(text) else { return nil }
        return switch words[1] {
        case "true", "yes", "on": true
        case "false", "no", "off": false
        default: nil
        }
    }

    /// Whether YAML reads it as a number.
    var isNumber: Bool {
        guard case .scalar(let text, isPlain: true) = content, let first = text.utf8.first else { return false }
        guard UInt8(ascii: "0")...UInt8(ascii: "9") ~= first || "+-.".utf8.contains(first) else { return false }
        let isInfinite = [".inf", ".nan"].contains(text.lowercased().drop { "+-".contains($0) })
        return isInfinite || Double(text.replacing("_", with: "")) != nil
    }

    /// A number without a fraction in decimal digits. Other notations differ between YAML 1.1 and 1.2.
    var integer: Int? {
        guard case .scalar(let text, isPlain: true) = content else { return nil }
        let digits = text.hasPrefix("-") ? text.dropFirst() : text[...]
        guard digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), !digits.hasPrefix("0") || digits == "0" else {
            return nil
        }
        return Int(text)
    }

    /// The text, unless YAML reads it as something else.
    var text: String? {
        guard case .scalar(let text, _) = content, !isNull, bool == nil, !isNumber else { return nil }
        return text
    }

    /// What it is, for messages.
    var description: String {
        switch content {
        case .scalar(let text, let isPlain):
            if isNull { return "nothing" }
            if bool != nil { return text }
            if isNumber { return "the number \(Self.short(text))" }
            return isPlain ? "the text “\(Self.short(text))”" : "the text \"\(Self.short(text))\""
        case .list: return "a list"
        case .section: return "a section"
        case .refused: return "refused"
        }
    }

    /// Returns a text that fits into a message.
    static func short(_ text: String) -> String {
        text.count > 60 ? text.prefix(60) + "…" : text
    }
}
