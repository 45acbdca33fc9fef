/// The files that `datapackage.json` lists.
struct ListedFiles {
    private(set) var json: [JSONValue] = []
    private var names: Set<String> = []

    /// Adds a file. Data Package 1.0, "name": unique, of lower-case letters, digits, dots, hyphens and underscores.
    mutating func add(_ path: String, _ sums: ZIPWriter.Sums) {
        let base = String(
            (path.split(separator: "/").last ?? "").lowercased().map {
                $0.isASCII && ($0.isLetter || $0.isNumber || "._-".contains($0)) ? $0 : "-"
            })
        var name = base
        var number = 2
        while !names.insert(name).inserted {
            name = "\(base)-\(number)"
            number += 1
        }
        json.append(
            .object([
                "name": .string(name), "path": .string(path), "hash": .string("sha256:\(sums.sha256)"),
                "bytes": .number("\(sums.size)"),
            ]))
    }
}
