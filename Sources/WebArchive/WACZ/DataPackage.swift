/// The contents of `datapackage.json`.
///
/// Source: WACZ 1.1.1 §5.2 and the 1.2.0 draft, which extend Frictionless Data Package. Real files may lack any member.
/// `DataPackage+Variants.swift` lists the supported spellings.
public struct DataPackage: Sendable, Hashable {
    /// A file listed in the package.
    public struct Resource: Sendable, Hashable {
        /// The short name.
        public let name: String?
        /// The path in the package, for example `archive/data.warc.gz`.
        public let path: String
        /// The hash of the contents; `nil` if it's missing or invalid.
        public let hash: WARCDigest?
        /// The start of an invalid hash, as written: one with an unknown algorithm or the wrong length.
        public let unknownHash: String?
        /// The size of the file in bytes.
        public let bytes: UInt64?
    }

    /// The page to show first.
    public struct MainPage: Sendable, Hashable {
        /// The URL of the page, as written.
        public let url: String
        /// The time of the page, as written.
        public let date: String?
        /// The time of the page.
        public var timestamp: CaptureTimestamp? { date.flatMap { CaptureTimestamp(pageTime: $0) } }

        /// Creates a page; `nil` if its URL is longer than those that can be looked up.
        init?(url: String, date: String?) {
            guard url.utf8.count <= Limits.standard.urlBytesMax else { return nil }
            (self.url, self.date) = (url, date)
        }
    }

    /// Another WACZ file that this one needs for its revisits. WACZ 1.2.0 draft, `relation.requires`.
    public struct Requirement: Sendable, Hashable {
        /// The name of the file.
        public let filename: String?
        /// The hash of the file.
        public let hash: WARCDigest?
        /// The ID of the crawl that created the file.
        public let crawlID: String?
    }

    /// A file from which this one was made. Frictionless Data Package, `sources`.
    public struct Source: Sendable, Hashable {
        /// The title.
        public let title: String?
        /// The name of the file, or its URL.
        public let path: String?
        /// The hash of the file.
        public let hash: WARCDigest?
    }

    /// The profile: `data-package`, `wacz` or `multi-wacz-package`; `nil` if it's missing.
    public let profile: String?
    /// The WACZ version, for example `1.1.1`; `nil` if it's missing.
    public let waczVersion: String?
    /// The title of the archive.
    public let title: String?
    /// The description of the archive.
    public let description: String?
    /// The creation date, as written.
    public let created: String?
    /// The modification date, as written.
    public let modified: String?
    /// The software that created the archive.
    public let software: String?
    /// The page to show first.
    public let mainPage: MainPage?
    /// The files of the package, in the listed order.
    public let resources: [Resource]
    /// The WACZ files that this one needs for its revisits.
    public let requirements: [Requirement]
    /// The first files from which this one was made, at most `sourcesMax`.
    public let sources: [Source]
    /// Whether `webarchive.yaml` (layouts before 1.0) lists pages.
    public let listsLegacyPages: Bool

    /// The number of sources that are read.
    static let sourcesMax = 20
}

/// The contents of `datapackage-digest.json`. WACZ 1.1.1 §5.3 and "WACZ Signing and Verification" 0.1.0.
///
/// It's only parsed: no hash or signature is checked.
public struct DataPackageDigest: Sendable, Hashable {
    /// The signer of a package.
    public enum Signer: Sendable, Hashable {
        /// An anonymous key, created by the person who made the file.
        case anonymous
        /// A signing server with a certificate for the domain.
        case domain(String)
    }

    /// The path of the hashed file: `datapackage.json`.
    public let path: String?
    /// The hash of the file, as written.
    public let hash: String?
    /// The signer; `nil` if the package isn't signed.
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
