import Foundation

/// Text that people or programs see, compared to a file. `RECORD_GOLDEN=1` writes the file instead; read the diff then.
package enum Golden {
    /// `nil` when the text is the file's; else what differs, in words.
    package static func difference(_ text: String, file: String) throws -> String? {
        if ProcessInfo.processInfo.environment["RECORD_GOLDEN"] == "1" {
            try Data(text.utf8).write(to: URL(fileURLWithPath: file))
            return nil
        }
        guard let data = FileManager.default.contents(atPath: file) else {
            return "\(file) is missing; RECORD_GOLDEN=1 writes it"
        }
        let expected = String(decoding: data, as: UTF8.self)
        return expected == text ? nil : "expected (\(file)):\n\(expected)\nfound:\n\(text)"
    }
}
