/// The content of `files/`.
struct FileInventory {
    private(set) var names: [String] = []
    /// The keys that have a file.
    private(set) var files: Set<String> = []
    /// The keys that have a sidecar.
    private(set) var sidecars: Set<String> = []

    init() {}

    init(_ layout: StoreLayout) throws {
        names = try Folder.names(in: layout.files)
        files = Set(Self.keys(of: names, ending: StoreLayout.fileSuffix))
        sidecars = Set(Self.keys(of: names, ending: StoreLayout.sidecarSuffix))
    }

    static func keys(of names: [String], ending: String) -> [String] {
        names.filter { $0.hasSuffix(ending) }.map { String($0.dropLast(ending.count)) }.filter(StoreLayout.isKey)
    }
}
