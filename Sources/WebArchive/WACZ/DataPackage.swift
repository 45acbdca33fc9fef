/// What `datapackage.json` says about a WACZ.
///
/// Source: WACZ 1.1.1 §5.2 and the 1.2.0 draft, on top of Frictionless Data Package. Every member may be absent in the
/// wild; see `DataPackage+Variants.swift` for the spellings that are understood.
public struct DataPackage: Sendable, Hashable {
    /// One file of the package, as listed.
    public struct Resource: Sendable, Hashable {
        /// Short name.
        public let name: String?
        /// Path in the package: `archive/data.warc.gz`.
        public let path: String
        /// Hash of the content, as hexadecimal with the name of its function; `nil` when absent or unreadable.
        public let hash: WARCDigest?
        /// The beginning of a hash that can't be read, as written: of an unknown algorithm, or of another length.
        public let unknownHash: String?
        /// Bytes of the content.
        public let bytes: UInt64?
    }

    /// The page to show first.
    public struct MainPage: Sendable, Hashable {
        /// Its URL, as written.
        public let url: String
        /// Its time, as written.
        public let date: String?
        /// Its time.
        public var timestamp: CaptureTimestamp? { date.flatMap { CaptureTimestamp(pageTime: $0) } }
    }

    /// Another file that this one needs for its revisits. WACZ 1.2.0 draft, `relation.requires`.
    public struct Requirement: Sendable, Hashable {
        /// Name of the file.
        public let filename: String?
        /// Its hash.
        public let hash: WARCDigest?
        /// The crawl it came from.
        public let crawlID: String?
    }

    /// `data-package`, `wacz`, `multi-wacz-package`; `nil` when absent.
    public let profile: String?
    /// `1.1.1`; `nil` when absent.
    public let waczVersion: String?
    /// Title of the archive.
    public let title: String?
    /// Description of the archive.
    public let description: String?
    /// When it was made, as written.
    public let created: String?
    /// When it was last changed, as written.
    public let modified: String?
    /// The program that made it.
    public let software: String?
    /// The page to show first.
    public let mainPage: MainPage?
    /// The files of the package, in the order of the list.
    public let resources: [Resource]
    /// Files that this one needs for its revisits.
    public let requirements: [Requirement]
    /// Whether a layout before 1.0 lists pages in the package file itself.
    public let listsLegacyPages: Bool
}

/// What `datapackage-digest.json` says. WACZ 1.1.1 §5.3 and "WACZ Signing and Verification" 0.1.0.
///
/// Only parsed here: nothing is hashed and no signature is checked.
public struct DataPackageDigest: Sendable, Hashable {
    /// Who signed.
    public enum Signer: Sendable, Hashable {
        /// A key of the person who made the file.
        case anonymous
        /// A server that answers for the domain.
        case domain(String)
    }

    /// The file that was hashed: `datapackage.json`.
    public let path: String?
    /// Its hash, as written.
    public let hash: String?
    /// Who signed; `nil` when the package is not signed.
    public let signer: Signer?

    /// Parses `datapackage-digest.json`.
    static func parse(_ bytes: [UInt8], file: String, limits: Limits) throws(WebArchiveError) -> DataPackageDigest {
        var members: [String: JSONValue] = [:]
        try JSONScanner.readDescription(bytes, file: file, limits: limits) { (scanner, key) throws(JSONProblem) in
            switch key {
            case "path", "hash", "signedData":
                members[key] = try scanner.members(
                    named: ["signature", "domain"], textBytesMax: limits.textBytesMax)
            default: try scanner.skipValue()
            }
        }
        let signed = members["signedData"]
        let hasSignature = signed?["signature"]?.string != nil
        return DataPackageDigest(
            path: members["path"]?.string, hash: members["hash"]?.string,
            signer: hasSignature ? signed?["domain"]?.string.map { .domain($0) } ?? .anonymous : nil)
    }
}
