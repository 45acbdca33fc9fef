import ArchiveStore
import WebArchive

/// A reader of untrusted bytes, which fuzzers and tests run.
package enum FuzzReader: String, CaseIterable, Sendable {
    /// A ZIP, and the WACZ in it.
    case zip
    /// `datapackage.json`, `datapackage-digest.json` and `webarchive.yaml`.
    case datapackage
    /// A page list.
    case pages
    /// A plain index.
    case cdxj
    /// An `.idx` file, followed by its gzipped index.
    case zipnum
    /// Gzip members.
    case gzip
    /// A WARC file.
    case warc
    /// A WARC file of Zstandard frames.
    case zstdFrames = "zstd-frames"
    /// The head of an HTTP message.
    case httpHead = "http-head"
    /// A chunked body.
    case chunked
    /// A body with content codings, which the first byte selects.
    case contentCodings = "content-codings"
    /// A URL to make keys of.
    case surt
    /// The size of a body, a line feed, and a `Range` field.
    case range
    /// The query string of a CDX request.
    case cdxParameters = "cdx-parameters"
    /// The query string of a search.
    case search
    /// The `backup.json` of a backup.
    case backupManifest = "backup-manifest"
    /// The body of `POST /download` of the capture server.
    case downloadRequest = "download-request"
    /// What yt-dlp, ffprobe and curl print.
    case toolOutput = "tool-output"
    /// `datapackage-digest.json` with a signature, or a key, certificate or time stamp of one.
    case signature
    /// The start of an image.
    case imageHeader = "image-header"
    /// A media type, another one that a crawler found, and a document, on lines.
    case encoding

    /// Reads `bytes`, and checks properties that must be true for any input. The reader may refuse the input.
    ///
    /// - Throws: `BrokenProperty`, or an unexpected error.
    package func read(_ bytes: [UInt8]) throws {
        try orRefuse {
            switch self {
            case .zip: try Self.readZIP(bytes)
            case .datapackage: try Self.readDataPackage(bytes)
            case .pages: try Self.readPages(bytes)
            case .cdxj: try Self.readCDXJ(bytes)
            case .zipnum: try Self.readZipNum(bytes)
            case .gzip: try Self.readGzip(bytes)
            case .warc: try Self.readWARC(bytes)
            case .zstdFrames: try Self.readZstdFrames(bytes)
            case .httpHead: try Self.readHTTPHead(bytes)
            case .chunked: try Self.readChunked(bytes)
            case .contentCodings: try Self.readContentCodings(bytes)
            case .surt: try Self.readSURT(bytes)
            case .range: try Self.readRange(bytes)
            case .cdxParameters: try Self.readCDXParameters(bytes)
            case .search: try Self.readSearch(bytes)
            case .backupManifest: try Self.readBackupManifest(bytes)
            case .downloadRequest: try Self.readDownloadRequest(bytes)
            case .toolOutput: try Self.readToolOutput(bytes)
            case .signature: try Self.readSignature(bytes)
            case .imageHeader: try Self.readImageHeader(bytes)
            case .encoding: try Self.readEncoding(bytes)
            }
        }
    }
}

/// A property that isn't true for a reader's result.
package struct BrokenProperty: Error, CustomStringConvertible {
    package let description: String
}

/// - Throws: `BrokenProperty` if `condition` is false.
func require(_ condition: Bool, _ property: @autoclosure () -> String) throws {
    guard condition else { throw BrokenProperty(description: property()) }
}

/// Runs `body`, and ignores the errors with which readers refuse an input.
func orRefuse(_ body: () throws -> Void) throws {
    do {
        try body()
    } catch is WebArchiveError {
    } catch is CDXQueryProblem {
    } catch is StoreError {
    }
}
