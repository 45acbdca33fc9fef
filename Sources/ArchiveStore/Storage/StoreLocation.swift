import Foundation

/// The store to use, and the reason.
package struct StoreLocation: Sendable, Hashable {
    /// An absolute path.
    package let path: String
    /// What determined the path, for people.
    package let reason: String
    /// Whether people have to name the store to use it again.
    package var isChosen: Bool { ["--store", "REPLAYHOST_STORE"].contains(reason) }

    /// Chooses `--store`, else `REPLAYHOST_STORE`, else `archives/` in the checkout that the binary was built in, else
    /// the user's data folder (XDG Base Directory Specification 0.8).
    package static func choose(
        option: String?, environment: [String: String], executable: String, currentFolder: String
    ) -> StoreLocation {
        if let option { return StoreLocation(path: absolute(option, in: currentFolder), reason: "--store") }
        if let variable = environment["REPLAYHOST_STORE"], !variable.isEmpty {
            return StoreLocation(path: absolute(variable, in: currentFolder), reason: "REPLAYHOST_STORE")
        }
        if let checkout = checkout(of: executable) {
            return StoreLocation(path: checkout + "/archives", reason: "this checkout")
        }
        let home = environment["HOME"] ?? "/"
        // The specification requires ignoring relative paths.
        let data = environment["XDG_DATA_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil } ?? home + "/.local/share"
        return StoreLocation(path: data + "/replayhost", reason: "your data folder")
    }

    /// Returns the checkout whose `.build` contains the executable; `nil` for an installed one.
    package static func checkout(of executable: String) -> String? {
        guard let range = executable.range(of: "/.build/", options: .backwards) else { return nil }
        return String(executable[..<range.lowerBound])
    }

    /// Returns an absolute path without trailing slashes.
    package static func absolute(_ path: String, in folder: String) -> String {
        var path = path.hasPrefix("/") ? path : "\(folder)/\(path)"
        while path.count > 1, path.hasSuffix("/") { path.removeLast() }
        return path
    }
}
