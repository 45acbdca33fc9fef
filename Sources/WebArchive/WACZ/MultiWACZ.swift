/// A ZIP that holds WACZ files instead of captures, as crawl services hand out a crawl of several.
///
/// Source: the profile `multi-wacz-package` of the Webrecorder tools; its members are stored at the root or in a folder.
public struct MultiWACZ: Sendable {
    /// The name to use in error texts.
    public let name: String
    /// What its `datapackage.json` says; `nil` when it has none that can be read.
    public let dataPackage: DataPackage?
    /// The WACZ files in it, in the order of the directory.
    public let members: [ZIPEntry]
    /// The ZIP's directory.
    public let directory: ZIPDirectory
    /// The hashes that the package states, by path and by name.
    private let statedHashes: [String: WARCDigest]

    /// Opens the file at `path`.
    ///
    /// - Parameter path: Of the file.
    /// - Parameter displayName: The name for error texts; the last part of `path` when `nil`.
    /// - Parameter limits: What is refused as too large.
    /// - Returns: `nil` when the ZIP holds no WACZ file, or holds captures itself.
    /// - Throws: What `ZIPDirectory` throws for what is no whole ZIP, or a hostile one.
    public static func open(
        path: String, displayName: String? = nil, limits: Limits = .standard
    ) throws(WebArchiveError) -> MultiWACZ? {
        let source = try FileByteSource(path: path, name: displayName)
        let directory = try ZIPDirectory(source: source, limits: limits)
        let safe = directory.entries.filter { !$0.isUnsafe && !$0.isDirectory }
        let members = safe.filter { isWACZ($0.name) }
        let hasCaptures = safe.contains { $0.name.hasPrefix("archive/") && !isWACZ($0.name) }
        guard !members.isEmpty, !hasCaptures else { return nil }
        try refuseBombs(members, name: source.name, limits: limits)
        var log = FindingLog(perCodeMax: limits.findingsPerCodeMax)
        let dataPackage = try WACZFile.readDataPackage(directory, &log)
        let resources = dataPackage?.resources ?? []
        let stated = resources.flatMap { resource in
            [resource.path, resource.name].compactMap { name in
                resource.hash.flatMap { hash in name.map { ($0, hash) } }
            }
        }
        return MultiWACZ(
            name: source.name, dataPackage: dataPackage, members: members, directory: directory,
            statedHashes: Dictionary(stated) { first, _ in first })
    }

    private static func refuseBombs(
        _ members: [ZIPEntry], name: String, limits: Limits
    ) throws(WebArchiveError) {
        func refusal(_ problem: String) -> WebArchiveError {
            WebArchiveError(
                code: .tooLarge, problem: problem, file: name, hint: "extract the ZIP, and import the WACZ files in it")
        }
        // Places in the file do not overlap, so that only declared sizes can be too large to be added.
        let packed = members.reduce(UInt64(0)) { $0 + $1.compressedSize }
        guard members.count <= max(Int(clamping: packed / limits.bytesPerMemberMin), limits.membersAlwaysAllowed) else {
            throw refusal("the package holds \(members.count) WACZ files in only \(packed) bytes; real ones are larger")
        }
        let size = members.uncompressedSize
        guard size <= limits.memberBytesMax(compressed: packed) else {
            throw refusal("\(packed) bytes expand to \(size) bytes of WACZ files, but real ones hardly compress")
        }
    }

    /// The SHA-256 that the package states for a member; `nil` when it states none.
    public func statedHash(of member: ZIPEntry) -> WARCDigest? {
        statedHashes[member.name].flatMap { $0.algorithm == .sha256 ? $0 : nil }
    }

    /// Where the bytes of a member are in the file; `nil` when they are compressed.
    public func storedRange(of member: ZIPEntry) throws(WebArchiveError) -> Range<UInt64>? {
        member.method == .stored ? try directory.dataRange(of: member) : nil
    }

    static func isWACZ(_ name: String) -> Bool {
        let name = name.lowercased()
        return name.hasSuffix(".wacz") || name.hasSuffix(".wacz.zip")
    }
}
