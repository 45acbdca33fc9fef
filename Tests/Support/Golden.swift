import Foundation

/// Compares output with a recorded file. `RECORD_GOLDEN=1` writes the file instead; read the diff then.
package enum Golden {
    /// Returns a description of the difference, or `nil` if the text equals the file.
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
