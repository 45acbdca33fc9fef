/// How the value of a key is read.
struct ConfigurationRule<Value: Sendable>: Sendable {
    let read: @Sendable (ConfigurationNode) throws(ConfigurationRefusal) -> Value
}

/// What is wrong with a value, and what to write instead.
struct ConfigurationRefusal: Error {
    let message: String
}

extension ConfigurationRule {
    /// Returns a rule that checks or changes what this one reads.
    func then<Other: Sendable>(
        _ next: @escaping @Sendable (Value) throws(ConfigurationRefusal) -> Other
    ) -> ConfigurationRule<Other> {
        ConfigurationRule<Other> { node throws(ConfigurationRefusal) in try next(try read(node)) }
    }

    /// Also accepts a key without a value.
    var orNothing: ConfigurationRule<Value?> {
        ConfigurationRule<Value?> { node throws(ConfigurationRefusal) in node.isNull ? nil : try read(node) }
    }
}

extension ConfigurationRule where Value == Int {
    static func integer(_ range: ClosedRange<Int>, _ unit: String? = nil) -> Self {
        let what = "a number from \(range.lowerBound) to \(range.upperBound)" + (unit.map { " (\($0))" } ?? "")
        return Self { node throws(ConfigurationRefusal) in
            guard let number = node.integer else {
                throw ConfigurationRefusal(
                    message: "\(node.description) isn't valid here; write \(what), without quotes")
            }
            guard range.contains(number) else {
                throw ConfigurationRefusal(message: "\(number) is out of range; write \(what)")
            }
            return number
        }
    }
}

extension ConfigurationRule where Value == Bool {
    static var bool: Self {
        Self { node throws(ConfigurationRefusal) in
            guard let value = node.bool else {
                throw ConfigurationRefusal(
                    message: "\(node.description) isn't valid here; write true or false, without quotes")
            }
            return value
        }
    }
}

extension ConfigurationRule where Value == String {
    /// Text that isn't empty, without control characters.
    static func text(_ what: String) -> Self {
        Self { node throws(ConfigurationRefusal) in
            guard let text = node.text else {
                let quotes = node.isNumber || node.bool != nil ? " in quotes" : ""
                throw ConfigurationRefusal(message: "\(node.description) isn't valid here; write \(what)\(quotes)")
            }
            guard text.contains(where: { !$0.isWhitespace }) else {
                throw ConfigurationRefusal(message: "the text is empty; write \(what), or delete this line")
            }
            guard text.unicodeScalars.allSatisfy({ $0.properties.generalCategory != .control }) else {
                throw ConfigurationRefusal(
                    message: "the text has a line break or a control character; write \(what) in one line")
            }
            return text
        }
    }

    /// One of some words.
    static func word(_ words: [String], ignoringCase: Bool = false) -> Self {
        let list =
            words.count > 1 ? words.dropLast().joined(separator: ", ") + " or " + words[words.count - 1] : words[0]
        return Self { node throws(ConfigurationRefusal) in
            let text = (node.bool.map { "\($0)" } ?? node.text).map { ignoringCase ? $0.lowercased() : $0 }
            guard let text, let word = words.first(where: { (ignoringCase ? $0.lowercased() : $0) == text }) else {
                throw ConfigurationRefusal(message: "\(node.description) isn't valid here; write \(list)")
            }
            return word
        }
    }
}
