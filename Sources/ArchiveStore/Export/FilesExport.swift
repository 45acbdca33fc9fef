import Foundation
package import WebArchive

/// The captures that are saved as files; by default all.
package struct FileSelection: Sendable, Hashable {
    /// The classes of media types; `nil` for all.
    package var types: Set<MediaClass>?
    /// The URLs; `nil` for all.
    package var urls: [String]?

    package init(types: Set<MediaClass>? = nil, urls: [String]? = nil) {
        (self.types, self.urls) = (types, urls)
    }

    /// Filters that together find all captures of the selection, and others.
    fileprivate var filters: [URLFilter] {
        guard let urls else { return [URLFilter()] }
        var known: Set<String> = []
        return urls.filter { known.insert($0).inserted }.map { url in
            var filter = URLFilter()
            (filter.text, filter.match) = (url, .exact)
            return filter
        }
    }
}

extension Exporter {
    /// What was written to a folder.
    package struct Files: Sendable, Hashable, Encodable {
        /// The number of files.
        package var count = 0
        /// Their size in bytes.
        package var size: UInt64 = 0
        /// The number of captures that can't be read.
        package var failed = 0
        /// Why the last of them can't be read.
        package var problem: String?
    }

    /// Writes the newest successful capture of each URL to a file, decoded, in folders by host, with the time of the
    /// capture. A list of the files lies beside the folders.
    ///
    /// - Parameters:
    ///   - folder: A folder that doesn't exist or is empty. It appears when it's complete.
    /// - Throws: `StoreError` `notPossible` if there is something in the folder, or if the files exceed `ExportLimit`.
    package func files(
        of archive: Archive, to folder: String, _ selection: FileSelection = FileSelection()
    ) throws -> Files {
        let manager = FileManager.default
        if Folder.exists(folder), try !manager.contentsOfDirectory(atPath: folder).isEmpty {
            throw StoreError(.notPossible, "the folder isn't empty", place: folder, hint: "choose a new folder")
        }
        return try PartialFolder.write(folder) { partial in
            let (files, list) = try forEachFile(of: archive, selection) { file, check in
                let path = "\(partial)/\(file.name)"
                let parent = path.split(separator: "/", omittingEmptySubsequences: false).dropLast()
                    .joined(separator: "/")
                try manager.createDirectory(atPath: parent, withIntermediateDirectories: true)
                var size: UInt64 = 0
                let sha256 = try FileCopy.write(file.contents, to: path) {
                    size = $0
                    try check($0)
                }
                try file.capture.time?.setModificationTime(of: path)
                return (size, sha256)
            }
            _ = try FileCopy.write(list.contents(), to: "\(partial)/\(SavedFileList.name)")
            return files
        }
    }

    /// Writes the same files into a ZIP.
    package func files(
        of archive: Archive, to target: Target, _ selection: FileSelection = FileSelection()
    ) throws -> Files {
        let zip = try target.zip()
        let (files, list) = try forEachFile(of: archive, selection) { file, check in
            try zip.add(file.name, file.contents, modified: file.capture.time) { try check($0) }
        }
        try zip.add(SavedFileList.name, list.contents())
        try zip.finish()
        return files
    }

    /// A file to write.
    private struct File {
        let name: String
        let capture: OpenCapture
        let contents: any ByteStream
    }

    /// - Parameter write: Receives a file, and what to call with the number of bytes written; returns size and SHA-256.
    private func forEachFile(
        of archive: Archive, _ selection: FileSelection,
        write: (File, _ check: (UInt64) throws -> Void) throws -> (size: UInt64, sha256: String)
    ) throws -> (Files, SavedFileList) {
        var files = Files()
        let list = try SavedFileList()
        var names = FileNames()
        _ = names.unique(SavedFileList.name)
        var limit = ExportLimit(archive)
        var newest = NewestCaptures()
        func add(_ entry: CDXJEntry) throws {
            do {
                try limit.add(ExportLimit.captureBytes)
                guard let file = try file(of: entry, archive, selection.types, &names) else { return }
                // Long paths take memory: the names of their folders are kept.
                try limit.add(UInt64(file.name.utf8.count * file.name.split(separator: "/").count))
                let (size, sha256) = try write(file) {
                    try progress($0, 0)
                    try limit.check($0)
                }
                try limit.add(size)
                try limit.add(list.add(SavedFile(file: file.name, of: file.capture, size: size, sha256: sha256)))
                files.size += size
                files.count += 1
            } catch let error as WebArchiveError where ![.io, .noSpace, .cancelled].contains(error.code) {
                files.failed += 1
                files.problem = error.problem
            } catch let error as StoreError where error.code == .payloadMissing {
                files.failed += 1
                files.problem = error.what
            }
        }
        let urls = selection.urls.map(Set.init)
        for filter in selection.filters {
            try resolver.forEachURL(filter, in: .archive(archive)) { item in
                let entry = item.entry
                guard (entry.method ?? "GET") == "GET", entry.url.hasPrefix("http"), urls?.contains(entry.url) ?? true,
                    entry.isRevisit || entry.status == 200
                else { return true }
                for last in newest.next(entry) { try add(last) }
                return true
            }
        }
        for last in newest.take() { try add(last) }
        return (files, list)
    }

    /// Returns a capture's file; `nil` if it has another type or another status.
    private func file(
        of entry: CDXJEntry, _ archive: Archive, _ types: Set<MediaClass>?, _ names: inout FileNames
    ) throws -> File? {
        let request = ArchiveStore.CaptureRequest(url: entry.url, time: entry.captureTime)
        guard let capture = try resolver.openCapture(request, in: [archive], allowsFuzzyMatch: false),
            // The index entry of a revisit has neither status nor type.
            (capture.status ?? 200) == 200, types?.contains(MediaClass(mime: capture.mime)) ?? true
        else { return nil }
        let contents = try capture.body.open(decoded: true).stream(named: entry.url)
        return File(name: names.name(for: entry.url, mime: capture.mime), capture: capture, contents: contents)
    }
}

extension CaptureTimestamp {
    /// Gives a file this time.
    fileprivate func setModificationTime(of path: String) throws(StoreError) {
        let (seconds, rest) = millisecondsSince1970.quotientAndRemainder(dividingBy: 1000)
        let time = rest < 0 ? (seconds - 1, rest + 1000) : (seconds, rest)
        let modified = timespec(tv_sec: Int(time.0), tv_nsec: Int(time.1) * 1_000_000)
        guard utimensat(AT_FDCWD, path, [modified, modified], 0) == 0 else {
            throw .system(errno, doing: "setting the time of the file", path: path)
        }
    }
}

/// Makes file names from URLs, each once, that no file system and no program misunderstands.
struct FileNames {
    private var files: Set<String> = []
    private var folders: Set<String> = []
    private static let bytesMax = 150
    /// Windows can't open files with these names, whatever their endings are. Source: Microsoft, "Naming Files, Paths, and
    /// Namespaces"; `CLOCK$` is of MS-DOS.
    private static let reserved: Set<String> = Set(
        ["con", "prn", "aux", "nul", "conin$", "conout$", "clock$"]
            + "123456789¹²³".flatMap { ["com\($0)", "lpt\($0)"] })
    /// Desktops act on files with these names and endings when a person only looks at their folder, or opens them.
    private static let acting: Set<String> = ["desktop.ini", "autorun.inf", "thumbs.db"]
    private static let actingEndings = [".lnk", ".url", ".scf", ".pif", ".desktop", ".library-ms", ".search-ms"]

    /// Returns a relative path: `reef.example/a/index.html`.
    mutating func name(for url: String, mime: String?) -> String {
        let parts = CapturedURL.Parts(url)
        var components = [parts?.host ?? "other"]
        let path = (parts?.path ?? "/\(url)").split(separator: "/", omittingEmptySubsequences: false).dropFirst()
        components += path.dropLast().filter { !$0.isEmpty }.suffix(20).map {
            String($0).removingPercentEncoding ?? String($0)
        }
        var name = path.last.map { String($0).removingPercentEncoding ?? String($0) } ?? ""
        if name.isEmpty { name = "index" }
        if let query = parts?.query.dropFirst(), !query.isEmpty { name = Self.joined(name, String(query)) }
        if !name.dropFirst().contains("."), let ending = Self.endings[mime ?? ""] { name += ending }
        let safe = (components.map(Self.safe) + [Self.safe(name)]).joined(separator: "/")
        return unique(safe)
    }

    private static func joined(_ name: String, _ query: String) -> String {
        guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return "\(name) \(query)" }
        return "\(name[..<dot]) \(query)\(name[dot...])"
    }

    /// Returns a name without separators, control characters and characters that are special somewhere.
    static func safe(_ name: String) -> String {
        var kept = String(
            name.unicodeScalars.map { scalar in
                let isSafe =
                    scalar.value >= 0x20 && !(0x7F...0x9F).contains(scalar.value)
                    && !"/\\:*?\"<>|".unicodeScalars.contains(scalar)
                    && ![.format, .lineSeparator, .paragraphSeparator].contains(scalar.properties.generalCategory)
                return isSafe ? Character(scalar) : "_"
            })
        while kept.utf8.count > bytesMax {
            let dot = kept.lastIndex(of: ".") ?? kept.endIndex
            let stem = kept[..<dot].dropLast()
            kept =
                stem.isEmpty
                ? String(kept.dropLast()) : String(stem) + (kept[dot...].utf8.count > 12 ? "" : kept[dot...])
        }
        while let last = kept.last, last == "." || last == " " { kept.removeLast() }
        let lower = kept.lowercased()
        if acting.contains(lower) || actingEndings.contains(where: lower.hasSuffix) { kept += "_" }
        var stem = lower.prefix { $0 != "." }
        while stem.last == " " { stem.removeLast() }
        if kept.isEmpty || reserved.contains(String(stem)) || kept.hasPrefix(".") { kept = "_" + kept }
        return kept
    }

    /// Adds numbers to parts of a path, so that no file has the name of another file or of a folder. Some file systems ignore
    /// case.
    mutating func unique(_ path: String) -> String {
        let parts = path.split(separator: "/").map(String.init)
        var folder = ""
        for part in parts.dropLast() {
            folder = numbered(folder + part) { !files.contains($0) }
            folders.insert(folder.lowercased())
            folder += "/"
        }
        let free = numbered(folder + (parts.last ?? "file")) { !files.contains($0) && !folders.contains($0) }
        files.insert(free.lowercased())
        return free
    }

    /// Returns a path, with a number before its extension if it isn't free.
    private func numbered(_ path: String, isFree: (String) -> Bool) -> String {
        let dot = path.lastIndex(of: ".").flatMap { path[$0...].contains("/") ? nil : $0 } ?? path.endIndex
        var free = path
        var number = 2
        while !isFree(free.lowercased()) {
            free = "\(path[..<dot])-\(number)\(path[dot...])"
            number += 1
        }
        return free
    }

    private static let endings = [
        "text/html": ".html", "application/xhtml+xml": ".xhtml", "text/css": ".css", "text/javascript": ".js",
        "application/javascript": ".js", "application/json": ".json", "image/jpeg": ".jpg", "image/png": ".png",
        "image/gif": ".gif", "image/webp": ".webp", "image/svg+xml": ".svg", "application/pdf": ".pdf",
        "text/plain": ".txt", "video/mp4": ".mp4", "audio/mpeg": ".mp3",
    ]
}

/// The newest capture of each URL, of captures in the order of their keys and times. URLs that differ only in what keys ignore,
/// such as `http` and `https`, have one key.
private struct NewestCaptures {
    private var key = ""
    private var captures: [String: CDXJEntry] = [:]
    private static let urlsMax = 10_000

    /// Adds a capture. Returns those of the key before, or of this one if it has too many URLs.
    mutating func next(_ entry: CDXJEntry) -> [CDXJEntry] {
        let before = entry.urlKey == key && captures.count < Self.urlsMax ? [] : take()
        key = entry.urlKey
        captures[entry.url] = entry
        return before
    }

    /// Returns the captures of the last key.
    mutating func take() -> [CDXJEntry] {
        defer { captures = [:] }
        return captures.values.sorted { $0.url < $1.url }
    }
}
