import ArchiveStore
import Crypto
import Foundation
import HTTPTypes
import Synchronization
import WebArchive

/// A file of `www/`, ready to send.
package struct Asset: Sendable, Hashable {
    package let bytes: [UInt8]
    /// A tag derived from the content, so that browsers notice upgrades.
    package let tag: ETag
    package let type: String
    /// The SHA-256 of the bytes in hex.
    package let sha256: String

    init(bytes: [UInt8], type: String) {
        self.bytes = bytes
        self.type = type
        let digest = SHA256.hash(data: bytes)
        tag = ETag(strong: String(digest.base64.prefix(27)))
        sha256 = digest.hexadecimal
    }
}

/// The installed replay engine, as described in `www/vendor/engine.json`.
package struct EngineDescription: Codable, Sendable, Hashable {
    package let name: String
    package let version: String
    package let sha256: String
}

/// The folder `www`, with the user interface and the replay engine. Caches files until they change.
package final class Assets: Sendable {
    /// The absolute path of the folder.
    package let folder: String

    private struct Cached {
        let asset: Asset
        let inode: ino_t
        let size: off_t
        let seconds: Int
        let nanoseconds: Int
    }
    private let cache = Mutex<[String: Cached]>([:])

    package init(folder: String) {
        self.folder = folder
    }

    /// Returns the file at a relative path; `nil` if there is none.
    package func asset(_ path: String) throws -> Asset? {
        let names = path.split(separator: "/", omittingEmptySubsequences: false)
        guard names.allSatisfy(Self.isPlain), let type = Self.type(of: names.last ?? "") else { return nil }
        let location = "\(folder)/\(path)"
        var status = stat()
        guard stat(location, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size <= Self.bytesMax else {
            return nil
        }
        let modified = status.modifiedAt
        if let cached = cache.withLock({ $0[location] }), cached.inode == status.st_ino, cached.size == status.st_size,
            cached.seconds == modified.seconds, cached.nanoseconds == modified.nanoseconds
        {
            return cached.asset
        }
        let asset = Asset(bytes: try Self.contents(of: location, size: Int(status.st_size)), type: type)
        cache.withLock {
            $0[location] = Cached(
                asset: asset, inode: status.st_ino, size: status.st_size, seconds: modified.seconds,
                nanoseconds: modified.nanoseconds)
        }
        return asset
    }

    /// Returns the text of a file with each line `{{PATH.js}}` replaced by the file at that path; `nil` if there is none.
    ///
    /// - Throws: `ErrorResponse.assetsMissing` if one of those is missing.
    func joined(_ path: String) throws -> String? {
        guard let whole = try asset(path) else { return nil }
        return try String(decoding: whole.bytes, as: UTF8.self).split(
            separator: "\n", omittingEmptySubsequences: false
        ).map { line in
            let name = line.drop { $0 == " " }
            guard name.hasPrefix("{{"), name.hasSuffix(".js}}") else { return String(line) }
            guard let part = try asset(String(name.dropFirst(2).dropLast(2))) else { throw ErrorResponse.assetsMissing }
            return String(decoding: part.bytes, as: UTF8.self)
        }
        .joined(separator: "\n")
    }

    /// Returns the installed engine; `nil` if its script is missing.
    package func engine() throws -> EngineDescription? {
        guard let script = try asset("vendor/sw.js") else { return nil }
        guard let description = try asset("vendor/engine.json"),
            let engine = try? JSONDecoder().decode(EngineDescription.self, from: Data(description.bytes))
        else { return EngineDescription(name: "wabac.js", version: "unknown", sha256: script.sha256) }
        return EngineDescription(name: engine.name, version: engine.version, sha256: script.sha256)
    }

    /// Whether the stock ReplayWeb.page interface is installed.
    package func hasStockInterface() throws -> Bool {
        try asset("vendor/stock/ui.js") != nil
    }

    private static func contents(of path: String, size: Int) throws -> [UInt8] {
        // A package may link its files.
        let file = try Descriptor(named: path, flags: O_RDONLY)
        return try [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
            count = try file.read(at: 0, into: UnsafeMutableRawBufferPointer(buffer))
        }
    }

    /// Whether a name consists of letters, digits, `.`, `_` and `-` and isn't hidden. Excludes `..`.
    private static func isPlain(_ name: Substring) -> Bool {
        !name.isEmpty && !name.hasPrefix(".") && name.utf8.count <= 255
            && name.unicodeScalars.allSatisfy {
                $0.isASCII && ($0.properties.isAlphabetic || "0123456789._-".unicodeScalars.contains($0))
            }
    }

    private static func type(of name: Substring) -> String? {
        guard let dot = name.lastIndex(of: ".") else { return nil }
        return types[name[name.index(after: dot)...].lowercased()]
    }

    private static let types = [
        "html": "text/html; charset=utf-8", "js": "text/javascript; charset=utf-8",
        "mjs": "text/javascript; charset=utf-8",
        "css": "text/css; charset=utf-8", "json": "application/json", "map": "application/json", "svg": "image/svg+xml",
        "png": "image/png", "jpg": "image/jpeg", "webp": "image/webp", "ico": "image/x-icon", "gif": "image/gif",
        "woff2": "font/woff2", "woff": "font/woff", "txt": "text/plain; charset=utf-8", "wasm": "application/wasm",
        "webmanifest": "application/manifest+json",
    ]
    private static let bytesMax: off_t = 64 << 20
}

extension SHA256.Digest {
    /// The digest in base64, as in Content-Security-Policy.
    var base64: String { Data(self).base64EncodedString() }
}
