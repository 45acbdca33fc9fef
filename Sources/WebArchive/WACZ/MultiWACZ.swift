/// A ZIP that contains WACZ files instead of captures, as crawling services offer for large crawls.
///
/// Source: the profile `multi-wacz-package` of the Webrecorder tools. The WACZ files are at the root or in a folder.
public struct MultiWACZ: Sendable {
    /// The name shown in error messages.
    public let name: String
    /// The contents of its `datapackage.json`; `nil` if it's missing or invalid.
    public let dataPackage: DataPackage?
    /// The WACZ files, in the order of the ZIP's directory.
    public let members: [ZIPEntry]
    /// The ZIP's directory.
    public let directory: ZIPDirectory
    /// The hashes in `datapackage.json`, by path and by name.
    private let statedHashes: [String: WARCDigest]

    /// Opens the file in `source`.
    ///
    /// - Parameter limits: The limits on what is accepted.
    /// - Returns: `nil` if the ZIP contains no WACZ files, or contains captures itself.
    /// - Throws: The errors of `ZIPDirectory` for a file that isn't a complete ZIP, or is an attack.
    public static func open(
        _ source: any ByteSource, limits: Limits = .standard
    ) throws(WebArchiveError) -> MultiWACZ? {
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
                code: .tooLarge, problem: problem, file: name, hint: "extract the ZIP, then import the WACZ files in it"
            )
        }
        // Entries don't overlap in the file, so only declared sizes can overflow when added.
        let packed = members.reduce(UInt64(0)) { $0 + $1.compressedSize }
        guard members.count <= max(Int(clamping: packed / limits.bytesPerMemberMin), limits.membersAlwaysAllowed) else {
            throw refusal(
                "the ZIP contains \(members.count) WACZ files in only \(ByteSize.text(packed)); real ones are larger")
        }
        let size = members.uncompressedSize
        guard size <= limits.memberBytesMax(compressed: packed) else {
            throw refusal(
                "\(ByteSize.text(packed)) expand to \(ByteSize.text(size)) of WACZ files, but real ones hardly compress"
            )
        }
    }

    /// Returns the SHA-256 in `datapackage.json` for a WACZ file, if any.
    public func statedHash(of member: ZIPEntry) -> WARCDigest? {
        statedHashes[member.name].flatMap { $0.algorithm == .sha256 ? $0 : nil }
    }

    /// Returns the byte range of a WACZ file in the ZIP, or `nil` if it's compressed.
    public func storedRange(of member: ZIPEntry) throws(WebArchiveError) -> Range<UInt64>? {
        member.method == .stored ? try directory.dataRange(of: member) : nil
    }

    static func isWACZ(_ name: String) -> Bool {
        let name = name.lowercased()
        return name.hasSuffix(".wacz") || name.hasSuffix(".wacz.zip")
    }
}
