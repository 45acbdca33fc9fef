/// The name of a person whose downloads have a folder of their own: ASCII letters and digits, in lower case.
package struct Username: Sendable, Hashable, CustomStringConvertible {
    package let text: String

    package var description: String { text }

    /// The user of requests without a name.
    package static let standard = Username(known: "defaultuser")

    /// - Returns: `nil` unless the text consists of 1 to 100 ASCII letters and digits.
    package init?(_ text: String) {
        guard (1...100).contains(text.utf8.count),
            text.unicodeScalars.allSatisfy({
                $0.isASCII && ($0.properties.isAlphabetic || $0.properties.numericType != nil)
            })
        else { return nil }
        self.text = text.lowercased()
    }

    private init(known text: String) { self.text = text }
}
