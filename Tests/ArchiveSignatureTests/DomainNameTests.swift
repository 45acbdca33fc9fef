import Testing

@testable import ArchiveSignature

struct DomainNameTests {
    @Test(arguments: [
        ("archive.example", "archive.example", true), ("ARCHIVE.example", "archive.EXAMPLE", true),
        ("archive.example", "www.archive.example", false), ("archive.example", "archive.example.", false),
        ("", "", false), ("", "archive.example", false), ("archive.example", "", false),
        // RFC 6125 §6.4.3: only the complete first label, and it stands for one label.
        ("*.archive.example", "www.archive.example", true), ("*.archive.example", "archive.example", false),
        ("*.archive.example", "a.b.archive.example", false), ("*.archive.example", ".archive.example", false),
        ("www.*.example", "www.archive.example", false), ("w*.archive.example", "www.archive.example", false),
        ("*", "example", false), ("*.example", "archive.example", false), ("*.*.example", "a.b.example", false),
        ("*.archive.example", "*.archive.example", true),
        // The Kelvin sign has a lower case in ASCII.
        ("kelvin.example", "\u{212A}elvin.example", false),
    ])
    func certificatesCoverDomains(name: String, domain: String, isCovered: Bool) {
        #expect(DomainName.covers(name, domain) == isCovered)
    }

    /// RFC 5280 §4.2.1.10.
    @Test(arguments: [
        ("host.example.com", "host.example.com", true), ("www.host.example.com", "host.example.com", true),
        ("host1.example.com", "host.example.com", false), ("badhost.example.com", "host.example.com", false),
        ("example.com", "host.example.com", false), ("host.example.com", "", true), ("", "", true),
        ("a.example.com", ".example.com", true), ("example.com", ".example.com", false),
        ("*.example.com", "example.com", true), ("A.Example.COM", "example.com", true),
    ])
    func constraintsContainNames(name: String, subtree: String, isContained: Bool) {
        #expect(DomainName.isIn(name, subtree: subtree) == isContained)
    }
}
