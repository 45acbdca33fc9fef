import WebArchive

/// Other forms of a URL under which the same page may have been captured. Index keys ignore the rest: scheme, case,
/// default port, and mostly `www.` and the trailing slash.
enum URLForms {
    /// Returns the other forms, those that differ least first; none for URLs other than `http` and `https`.
    static func all(of url: String) -> [String] {
        guard let parts = CapturedURL.Parts(url) else { return [] }
        let hosts = [parts.host] + hosts(besides: parts.host)
        let ports = parts.port.isEmpty ? [""] : [parts.port, ""]
        let paths = [parts.path] + paths(besides: parts.path)
        var forms: [String] = []
        for path in paths {
            for port in ports {
                for host in hosts {
                    let form = "\(parts.scheme)://\(host)\(port)\(path)\(parts.query)"
                    if !SURT.matches(form, url) { forms.append(form) }
                }
            }
        }
        return forms
    }

    private static func hosts(besides host: String) -> [String] {
        for prefix in ["www.", "m."] where host.lowercased().hasPrefix(prefix) {
            let rest = String(host.dropFirst(prefix.count))
            return [rest] + ["www.", "m."].filter { $0 != prefix }.map { $0 + rest }
        }
        // An IP address has no subdomains.
        guard host.contains(where: \.isLetter), !host.contains(":") else { return [] }
        return ["www.\(host)", "m.\(host)"]
    }

    private static func paths(besides path: String) -> [String] {
        let name = path.split(separator: "/", omittingEmptySubsequences: false).last.map { $0.lowercased() } ?? ""
        if indexNames.contains(name) { return [String(path.dropLast(name.count))] }
        guard name.isEmpty else { return [] }
        return indexNames.map { "\(path.hasSuffix("/") ? path : "/")\($0)" }
    }

    private static let indexNames = ["index.html", "index.htm", "index.php", "default.htm"]
}
