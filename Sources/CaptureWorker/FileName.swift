import Foundation

/// The name of a media file or document: `<id>_<title>.<ext>`.
package enum FileName {
    /// The maximum size of a name in bytes. File systems allow 255, and a number may be added.
    package static let bytesMax = 200

    /// Makes a name of one component: NFC, without separators, control characters, and dots at the start. Other scripts are kept.
    package static func make(id: String, title: String, extension ending: String) -> String {
        let ending = clean(ending, bytesMax: 10)
        let start = clean(id, bytesMax: 60)
        let room = bytesMax - ending.utf8.count - 1
        let stem = [start, clean(title, bytesMax: bytesMax)].filter { !$0.isEmpty }.joined(separator: "_")
        let name = shortened(stem.isEmpty ? "file" : stem, bytesMax: room)
        return ending.isEmpty ? name : "\(name).\(ending)"
    }

    /// Returns a name that another process made, if it's safe; otherwise a safe name made of its characters.
    package static func plain(_ name: String) -> String {
        let forbidden = "/\\:*?\"<>|".unicodeScalars
        let isPlain =
            !name.isEmpty && name.utf8.count <= bytesMax + 10 && !name.hasPrefix(".")
            && name.unicodeScalars.allSatisfy {
                ![.control, .format, .surrogate, .privateUse, .lineSeparator, .paragraphSeparator].contains(
                    $0.properties.generalCategory)
                    && !forbidden.contains($0)
            }
        guard !isPlain else { return name }
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        let ending = parts.count > 1 ? String(parts[parts.count - 1]) : ""
        return make(id: "", title: parts.dropLast(parts.count > 1 ? 1 : 0).joined(separator: "."), extension: ending)
    }

    private static func clean(_ text: String, bytesMax: Int) -> String {
        var name = String.UnicodeScalarView()
        // Titles can be very long.
        for scalar in text.unicodeScalars.prefix(bytesMax * 4) {
            switch scalar.properties.generalCategory {
            case .control, .format, .surrogate, .privateUse, .unassigned: continue
            case .spaceSeparator, .lineSeparator, .paragraphSeparator: name.append("_")
            default: name.append("/\\:*?\"<>|".unicodeScalars.contains(scalar) ? "_" : scalar)
            }
        }
        let composed = String(name).precomposedStringWithCanonicalMapping
        let trimmed = composed.drop { $0 == "." || $0 == "_" || $0 == "-" }
        return shortened(String(trimmed), bytesMax: bytesMax)
    }

    /// Returns whole characters of a text within a limit, without dots and spaces at the end.
    private static func shortened(_ text: String, bytesMax: Int) -> String {
        var text = Substring(text)
        while text.utf8.count > bytesMax { text.removeLast() }
        while let last = text.last, last == "." || last == "_" { text.removeLast() }
        return String(text)
    }
}
