/// The name of a person whose downloads have a folder of their own: ASCII letters and digits, in lower case.
public struct Username: Sendable, Hashable, CustomStringConvertible {
    public let text: String

    public var description: String { text }

    /// The user of requests without a name.
    public static let standard = Username(known: "defaultuser")

    /// - Returns: `nil` unless the text consists of 1 to 100 ASCII letters and digits.
    public init?(_ text: String) {
        guard (1...100).contains(text.utf8.count),
            text.unicodeScalars.allSatisfy({
                $0.isASCII && ($0.properties.isAlphabetic || $0.properties.numericType != nil)
            })
        else { return nil }
        self.text = text.lowercased()
    }

    private init(known text: String) { self.text = text }
}
