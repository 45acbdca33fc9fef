import Foundation
import Testing

@testable import ArchiveStore

struct RFC3339Tests {
    /// RFC 3339 §5.6: a year has four digits.
    @Test(arguments: [
        ("0000-01-01T00:00:00Z", true), ("1970-01-01T00:00:00.000000Z", true), ("9999-12-31T23:59:59.999999Z", true),
        ("99999999-01-01T00:00:00Z", false), ("+292277026596-01-01T00:00:00Z", false),
    ])
    func onlyFourDigitYearsAreParsed(_ text: String, _ isRead: Bool) {
        let date = RFC3339.date(text)
        #expect((date != nil) == isRead)
        if let date { #expect(RFC3339.preciseText(of: date).hasSuffix("Z")) }
    }
}
