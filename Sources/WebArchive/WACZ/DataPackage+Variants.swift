extension DataPackage {
    /// Parses `datapackage.json` in any of its spellings.
    ///
    /// Variants: `mainPageUrl` (1.1), `mainPageURL` (ArchiveWeb.page), `home` (1.2.0 draft); `hash` with or without its
    /// algorithm; `stats.hash` and `stats.bytes` (older py-wacz), where 0 bytes means unknown. Keeps only known
    /// members, up to the limits.
    ///
    /// - Throws: `badJSON` with the position if it isn't a JSON object; `tooLarge` if it lists too many files.
    static func parse(_ bytes: [UInt8], file: String, limits: Limits) throws(WebArchiveError) -> DataPackage {
        var found = Found()
        try JSONScanner.readDescription(bytes, file: file, limits: limits) { (scanner, key) throws(JSONProblem) in
            try found.read(key, &scanner, limits)
        }
        for (count, what) in [(found.resourceCount, "files"), (found.requirementCount, "required packages")]
        where count > limits.resourcesMax {
            throw WebArchiveError(
                code: .tooLarge, problem: "it lists \(count) \(what), and the limit is \(limits.resourcesMax)",
                file: file)
        }
        return DataPackage(found)
    }

    /// The known members read so far.
    private struct Found {
        var members: [String: JSONValue] = [:]
        var software: String?
        var resources: [Resource] = []
        var resourceCount = 0
        var requirements: [Requirement] = []
        var requirementCount = 0
        var sources: [Source] = []

        mutating func read(_ key: String, _ scanner: inout JSONScanner, _ limits: Limits) throws(JSONProblem) {
            switch key {
            case "resources":
                (resources, resourceCount) = ([], 0)
                try scanner.elements { (scanner) throws(JSONProblem) in
                    resourceCount += 1
                    guard resourceCount <= limits.resourcesMax else { return try scanner.skipValue() }
                    let names: Set = ["name", "path", "hash", "bytes", "stats"]
                    let json = try scanner.members(named: names, levels: 2, textBytesMax: limits.textBytesMax)
                    if let resource = resource(json) { resources.append(resource) }
                }
            case "relation" where scanner.startsWith("{"):
                try scanner.object { (scanner, key) throws(JSONProblem) in
                    if key == "requires" { try read(key, &scanner, limits) } else { try scanner.skipValue() }
                }
            case "requires":
                (requirements, requirementCount) = ([], 0)
                try scanner.elements { (scanner) throws(JSONProblem) in
                    requirementCount += 1
                    guard requirementCount <= limits.resourcesMax else { return try scanner.skipValue() }
                    let names: Set = ["filename", "name", "hash", "crawlId"]
                    let json = try scanner.members(named: names, textBytesMax: limits.textBytesMax)
                    requirements.append(requirement(json))
                }
            case "sources" where scanner.startsWith("["):
                sources = []
                try scanner.elements { (scanner) throws(JSONProblem) in
                    guard sources.count < DataPackage.sourcesMax else { return try scanner.skipValue() }
                    let json = try scanner.members(
                        named: ["title", "path", "hash"], textBytesMax: limits.textBytesMax)
                    sources.append(
                        Source(
                            title: json["title"]?.string, path: json["path"]?.string,
                            hash: json["hash"]?.string.flatMap { WARCDigest($0) }))
                }
            case "software": software = try readSoftware(&scanner, limits)
            case "profile", "wacz_version", "waczVersion", "title", "description", "desc", "created", "modified",
                "mainPageUrl", "mainPageURL", "mainPageDate", "mainPageTS", "home":
                members[key] = try scanner.members(named: ["url", "ts"], textBytesMax: limits.textBytesMax)
            default: try scanner.skipValue()
            }
        }

        private func readSoftware(_ scanner: inout JSONScanner, _ limits: Limits) throws(JSONProblem) -> String? {
            guard scanner.startsWith("[") else { return try scanner.text(bytesMax: limits.textBytesMax) }
            var software = ""
            try scanner.elements { (scanner) throws(JSONProblem) in
                let name = try scanner.members(named: [], textBytesMax: limits.textBytesMax).string
                if let name, software.utf8.count < limits.textBytesMax {
                    software += software.isEmpty ? name : ", \(name)"
                }
            }
            return software
        }

        private func resource(_ json: JSONValue) -> Resource? {
            guard let path = json["path"]?.string ?? json["name"]?.string else { return nil }
            let text = json["hash"]?.string ?? json["stats"]?["hash"]?.string
            let hash = text.flatMap { WARCDigest($0) }
            let statedBytes = json["stats"]?["bytes"]?.unsigned.flatMap { $0 == 0 ? nil : $0 }
            return Resource(
                name: json["name"]?.string, path: path, hash: hash,
                unknownHash: hash == nil && text?.isEmpty == false ? text.map { String($0.prefix(80)) } : nil,
                bytes: json["bytes"]?.unsigned ?? statedBytes)
        }

        private func requirement(_ json: JSONValue) -> Requirement {
            Requirement(
                filename: json["filename"]?.string ?? json["name"]?.string,
                hash: json["hash"]?.string.flatMap { WARCDigest($0) }, crawlID: json["crawlId"]?.text)
        }

        subscript(_ key: String) -> JSONValue? { members[key].flatMap { $0 == .null ? nil : $0 } }
    }

    private init(_ json: Found) {
        let url =
            json["mainPageUrl"]?.string ?? json["mainPageURL"]?.string ?? json["home"]?["url"]?.string
            ?? json["home"]?.string
        let date = json["mainPageDate"]?.text ?? json["mainPageTS"]?.text ?? json["home"]?["ts"]?.text
        self.init(
            profile: json["profile"]?.string, waczVersion: (json["wacz_version"] ?? json["waczVersion"])?.text,
            title: json["title"]?.string, description: json["description"]?.string ?? json["desc"]?.string,
            created: json["created"]?.text, modified: json["modified"]?.text, software: json.software,
            mainPage: url.flatMap { MainPage(url: $0, date: date) }, resources: json.resources,
            requirements: json.requirements, sources: json.sources, listsLegacyPages: false)
    }

    /// Reads the metadata in `webarchive.yaml`, which layouts before 1.0 have instead of `datapackage.json`.
    ///
    /// - Throws: The errors of the stream.
    static func parseLegacy(_ stream: any ByteStream, limits: Limits) throws(WebArchiveError) -> DataPackage {
        let lines = LineReader(
            stream, lineBytesMax: limits.textBytesMax, skippedLineBytesMax: limits.skippedLineBytesMax)
        var legacy = LegacyDescription()
        while let line = try lines.next() { _ = legacy.add(line.bytes ?? []) }
        let top = legacy.top
        let mainURL = top["mainPageUrl"] ?? top["mainPageURL"] ?? top["home"]
        return DataPackage(
            profile: nil, waczVersion: nil, title: top["title"], description: top["desc"] ?? top["description"],
            created: top["created"] ?? top["date"], modified: nil, software: top["software"],
            mainPage: mainURL.flatMap { MainPage(url: $0, date: top["mainPageDate"]) }, resources: [], requirements: [],
            sources: [], listsLegacyPages: legacy.hasPages)
    }
}

/// A `webarchive.yaml`, read line by line: `key: value` lines, and a `pages` list of such lines.
struct LegacyDescription {
    /// The metadata of the archive.
    private(set) var top: [String: String] = [:]
    /// Whether a page with a URL was found.
    private(set) var hasPages = false
    private var page: [String: String] = [:]
    private var isInPages = false

    private static let known: Set = [
        "title", "desc", "description", "created", "date", "software", "mainPageUrl", "mainPageURL", "home",
        "mainPageDate",
        "url", "ts", "id",
    ]

    /// Reads the next line.
    ///
    /// - Returns: The page that ends before the line, if it has a URL.
    mutating func add(_ line: [UInt8]) -> Page? {
        let line = String(decoding: line, as: UTF8.self)
        guard let (key, value) = Self.pair(line[...]) else { return nil }
        let isItem = line.drop { $0 == " " }.hasPrefix("- ")
        guard isItem || line.hasPrefix(" ") else {
            isInPages = key == "pages"
            if Self.known.contains(key) { top[key] = value }
            return takePage()
        }
        guard isInPages else { return nil }
        let finished = isItem ? takePage() : nil
        if Self.known.contains(key) { page[key] = value }
        if key == "url" { hasPages = true }
        return finished
    }

    /// Returns and resets the current page, if it has a URL.
    mutating func takePage() -> Page? {
        defer { page = [:] }
        let time = (page["date"] ?? page["ts"]).flatMap { CaptureTimestamp(pageTime: $0) }
        return page["url"].map { Page(url: $0, captureTime: time, title: page["title"], id: page["id"]) }
    }

    private static func pair(_ line: Substring) -> (key: String, value: String)? {
        let text = line.drop { $0 == " " || $0 == "-" }
        guard !text.hasPrefix("#"), let colon = text.firstIndex(of: ":") else { return nil }
        let after = text[text.index(after: colon)...]
        guard after.isEmpty || after.hasPrefix(" ") else { return nil }
        var value = String(after.drop { $0 == " " })
        while value.hasSuffix(" ") { value.removeLast() }
        for quote in ["'", "\""] where value.count >= 2 && value.hasPrefix(quote) && value.hasSuffix(quote) {
            value = String(value.dropFirst().dropLast()).replacing(quote + quote, with: quote)
            break
        }
        return (String(text[..<colon]), value)
    }
}
