extension DataPackage {
    /// Parses `datapackage.json` in any of its spellings.
    ///
    /// Variants: `mainPageUrl` (1.1), `mainPageURL` (ArchiveWeb.page), `home` (1.2.0 draft); `hash` with or without
    /// the name of its function; `stats.hash` and `stats.bytes` (older py-wacz), where a `bytes` of 0 says nothing.
    ///
    /// - Throws: `badJSON` with the position, when it is no JSON object.
    static func parse(_ bytes: [UInt8], file: String, limits: Limits) throws(WebArchiveError) -> DataPackage {
        DataPackage(try JSONValue.parseObject(bytes, file: file, limits: limits))
    }

    private init(_ json: JSONValue) {
        let url =
            json["mainPageUrl"]?.string ?? json["mainPageURL"]?.string ?? json["home"]?["url"]?.string
            ?? json["home"]?.string
        let date = json["mainPageDate"]?.text ?? json["mainPageTS"]?.text ?? json["home"]?["ts"]?.text
        let requires = json["relation"]?["requires"] ?? json["requires"]
        self.init(
            profile: json["profile"]?.string, waczVersion: (json["wacz_version"] ?? json["waczVersion"])?.text,
            title: json["title"]?.string, description: json["description"]?.string ?? json["desc"]?.string,
            created: json["created"]?.text, modified: json["modified"]?.text, software: Self.software(json["software"]),
            mainPage: url.map { MainPage(url: $0, date: date) },
            resources: json["resources"]?.array?.compactMap { Self.resource($0) } ?? [],
            requirements: requires?.array?.map { Self.requirement($0) } ?? [], legacyPages: [])
    }

    private static func software(_ json: JSONValue?) -> String? {
        json?.string ?? json?.array.map { $0.compactMap(\.string).joined(separator: ", ") }
    }

    private static func resource(_ json: JSONValue) -> Resource? {
        guard let path = json["path"]?.string ?? json["name"]?.string else { return nil }
        let hash = json["hash"]?.string ?? json["stats"]?["hash"]?.string
        let statedBytes = json["stats"]?["bytes"]?.unsigned.flatMap { $0 == 0 ? nil : $0 }
        return Resource(
            name: json["name"]?.string, path: path, hash: hash.flatMap { WARCDigest($0) },
            bytes: json["bytes"]?.unsigned ?? statedBytes)
    }

    private static func requirement(_ json: JSONValue) -> Requirement {
        Requirement(
            filename: json["filename"]?.string ?? json["name"]?.string,
            hash: json["hash"]?.string.flatMap { WARCDigest($0) }, crawlID: json["crawlId"]?.text)
    }

    /// Parses `webarchive.yaml`, which layouts before 1.0 have instead of `datapackage.json`.
    ///
    /// Understood is what its writer made: `key: value` lines, and a `pages` list of such lines.
    static func parseLegacy(_ bytes: [UInt8]) -> DataPackage {
        var top: [String: String] = [:]
        var pages: [[String: String]] = []
        var isInPages = false
        for line in String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline) {
            guard let (key, value) = yamlPair(line) else { continue }
            let isItem = line.drop { $0 == " " }.hasPrefix("- ")
            if isItem || line.hasPrefix(" ") {
                guard isInPages else { continue }
                if isItem { pages.append([:]) }
                if var page = pages.popLast() {
                    page[key] = value
                    pages.append(page)
                }
            } else {
                isInPages = key == "pages"
                top[key] = value
            }
        }
        let listed = pages.compactMap { page in
            page["url"].map { Page(url: $0, time: page["date"] ?? page["ts"], title: page["title"], id: page["id"]) }
        }
        let mainURL = top["mainPageUrl"] ?? top["mainPageURL"] ?? top["home"]
        return DataPackage(
            profile: nil, waczVersion: nil, title: top["title"], description: top["desc"] ?? top["description"],
            created: top["created"] ?? top["date"], modified: nil, software: top["software"],
            mainPage: mainURL.map { MainPage(url: $0, date: top["mainPageDate"]) }, resources: [], requirements: [],
            legacyPages: listed)
    }

    private static func yamlPair(_ line: Substring) -> (key: String, value: String)? {
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
