import Crypto
import Foundation

/// What `datapackage.json` says about an archive. WACZ 1.1.1 §5.2 and Data Package 1.0.
public struct PackageDescription: Sendable, Hashable {
    /// The archive from which this one was made. Data Package 1.0, `sources`.
    public struct Source: Sendable, Hashable {
        /// A name for people.
        public var title: String
        /// The file's name.
        public var path: String?
        /// The file's hash: `sha256:` and hexadecimal digits.
        public var hash: String?

        /// Creates a source.
        public init(title: String, path: String? = nil, hash: String? = nil) {
            (self.title, self.path, self.hash) = (title, path, hash)
        }
    }

    /// A page of the archive.
    public struct MainPage: Sendable, Hashable {
        /// The URL of the page.
        public var url: String
        /// The time of its capture.
        public var time: CaptureTimestamp?

        /// Creates a page.
        public init(url: String, time: CaptureTimestamp?) {
            (self.url, self.time) = (url, time)
        }
    }

    /// The title of the archive.
    public var title: String?
    /// A description of its contents.
    public var description: String?
    /// When the archive was created; if `nil`, the time of its last capture, so that the same captures give the same file.
    public var created: CaptureTimestamp?
    /// The program that writes the archive, with its version.
    public var software: String?
    /// The page to show first; if `nil`, the first page of the list.
    public var mainPage: MainPage?
    /// The archives from which this one was made.
    public var sources: [Source] = []
    /// Other members, of an existing package.
    private var others: [String: JSONValue] = [:]

    /// Creates an empty description.
    public init() {}

    /// Creates the description of an archive that is written again, with all members that don't describe its files.
    package init(of wacz: WACZFile) {
        let package = wacz.dataPackage
        (title, description) = (package?.title, package?.description)
        (created, software) = (package?.created.flatMap { CaptureTimestamp(pageTime: $0) }, package?.software)
        mainPage = package?.mainPage.map { MainPage(url: $0.url, time: $0.timestamp) }
        guard let entry = wacz.directory.entry(named: "datapackage.json"),
            let bytes = try? wacz.directory.contents(of: entry, limit: wacz.limits.dataPackageBytesMax),
            let members = try? Self.members(of: bytes, wacz.limits)
        else { return }
        others = members
    }

    /// Returns the members that don't describe files, as far as they are small: a JSON value takes much more memory than its text.
    private static func members(of bytes: [UInt8], _ limits: Limits) throws(JSONProblem) -> [String: JSONValue] {
        var bytesLeft = limits.textBytesMax
        var members: [String: JSONValue] = [:]
        var scanner = JSONScanner(bytes, depthMax: limits.jsonDepthMax)
        scanner.skipByteOrderMark()
        try scanner.object { (scanner, key) throws(JSONProblem) in
            var after = scanner
            try after.skipValue()
            let size = key.utf8.count + after.position - scanner.position
            if key != "resources", size <= bytesLeft {
                members[key] = try scanner.value()
                bytesLeft -= size
            }
            scanner = after
        }
        return members
    }

    /// Returns `datapackage.json`.
    ///
    /// - Parameter profile: `data-package` for a WACZ, `multi-wacz-package` for several in one file.
    func json(_ resources: [JSONValue], profile: String = "data-package") -> [UInt8] {
        var members = others
        members["profile"] = .string(profile)
        members["wacz_version"] = profile == "data-package" ? .string("1.1.1") : nil
        members["resources"] = .array(resources)
        let texts = [
            ("title", title), ("description", description), ("created", created?.rfc3339), ("software", software),
            ("mainPageUrl", mainPage?.url), ("mainPageDate", mainPage?.time?.rfc3339),
        ]
        for (name, text) in texts { members[name] = text.map { .string($0) } ?? members[name] }
        if !sources.isEmpty { members["sources"] = .array(sources.map(\.json)) }
        return JSONValue.object(members).serialized
    }
}

extension PackageDescription.Source {
    fileprivate var json: JSONValue {
        let members: [String: String?] = ["title": title, "path": path, "hash": hash]
        return .object(members.compactMapValues { $0.map { .string($0) } })
    }
}

/// `datapackage-digest.json`. WACZ 1.1.1 §5.3; "WACZ Signing and Verification" 0.1.0, "Anonymous Signatures".
enum PackageDigest {
    /// - Parameter key: The key to sign with; `nil` for no signature.
    static func json(
        of package: [UInt8], _ description: PackageDescription, signedWith key: P384.Signing.PrivateKey?
    ) throws -> [UInt8] {
        let hash = "sha256:" + SHA256.hash(data: package).hexadecimal
        var members: [String: JSONValue] = ["path": .string("datapackage.json"), "hash": .string(hash)]
        if let key {
            let signature = try key.signature(for: SHA256.hash(data: Array(hash.utf8)))
            members["signedData"] = .object([
                "hash": .string(hash), "signature": .string(signature.rawRepresentation.base64EncodedString()),
                "publicKey": .string(key.publicKey.derRepresentation.base64EncodedString()),
                "created": .string(description.created?.rfc3339 ?? ""), "software": .string(description.software ?? ""),
            ])
        }
        return JSONValue.object(members).serialized
    }
}
