import ArchiveStore
import WebArchive

/// A reader of untrusted bytes, as the fuzzers and the tests run it.
package enum FuzzReader: String, CaseIterable, Sendable {
    /// A ZIP, and the WACZ that it may be.
    case zip
    /// `datapackage.json`, `datapackage-digest.json` and `webarchive.yaml`.
    case datapackage
    /// A page list.
    case pages
    /// A plain index.
    case cdxj
    /// An `.idx` with the gzipped index right behind it.
    case zipnum
    /// Gzip members.
    case gzip
    /// A WARC file.
    case warc
    /// The head of an HTTP message.
    case httpHead = "http-head"
    /// A chunked body.
    case chunked
    /// A body with content codings; its first byte chooses them.
    case contentCodings = "content-codings"
    /// A URL of which keys are made.
    case surt
    /// The size of a body, a line feed, and a `Range` field.
    case range
    /// The query of a CDX request.
    case cdxParameters = "cdx-parameters"
    /// The `backup.json` of a backup.
    case backupManifest = "backup-manifest"

    /// Lets the reader read `bytes`, and checks what must hold whatever they are. The reader may refuse them.
    ///
    /// - Throws: `BrokenProperty`, or an error that is none of the readers' own.
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
            case .httpHead: try Self.readHTTPHead(bytes)
            case .chunked: try Self.readChunked(bytes)
            case .contentCodings: try Self.readContentCodings(bytes)
            case .surt: try Self.readSURT(bytes)
            case .range: try Self.readRange(bytes)
            case .cdxParameters: try Self.readCDXParameters(bytes)
            case .backupManifest: try Self.readBackupManifest(bytes)
            }
        }
    }
}

/// What must hold of a reader's answer, and didn't.
package struct BrokenProperty: Error, CustomStringConvertible {
    package let description: String
}

/// - Throws: `BrokenProperty` when `condition` is false.
func require(_ condition: Bool, _ property: @autoclosure () -> String) throws {
    guard condition else { throw BrokenProperty(description: property()) }
}

/// Runs `body`; a reader's own error ends it and is no fault.
func orRefuse(_ body: () throws -> Void) throws {
    do {
        try body()
    } catch is WebArchiveError {
    } catch is CDXQueryProblem {
    } catch is StoreError {
    }
}
