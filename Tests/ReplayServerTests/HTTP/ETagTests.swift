import Testing

@testable import ReplayServer

struct ETagTests {
    // The grammar of RFC 9110 §8.8.3.
    @Test(arguments: [
        ("\"xyzzy\"", "xyzzy", false), ("W/\"xyzzy\"", "xyzzy", true), ("\"\"", "", false), ("W/\"\"", "", true),
        ("\"a,b\"", "a,b", false), ("\"!#$~\"", "!#$~", false),
    ])
    func wellFormedTagsAreParsed(text: String, opaque: String, isWeak: Bool) throws {
        let tag = try #require(ETag(text))
        #expect(tag.opaque == opaque)
        #expect(tag.isWeak == isWeak)
        #expect(tag.description == text)
    }

    @Test(arguments: [
        "xyzzy", "\"", "\"open", "open\"", "w/\"x\"", "W/x", "W/", "", "\"a\"b\"", "\"a b\"", "\"a\u{7F}\"", "*",
    ])
    func malformedTagsAreRejected(text: String) { #expect(ETag(text) == nil) }

    // The table of RFC 9110 §8.8.3.2.
    @Test(arguments: [
        ("W/\"1\"", "W/\"1\"", false, true), ("W/\"1\"", "W/\"2\"", false, false), ("W/\"1\"", "\"1\"", false, true),
        ("\"1\"", "\"1\"", true, true),
    ])
    func comparisonsFollowRFC9110(one: String, other: String, isStrong: Bool, isWeak: Bool) throws {
        let (one, other) = (try #require(ETag(one)), try #require(ETag(other)))
        #expect(one.isStronglyEqual(to: other) == isStrong)
        #expect(other.isStronglyEqual(to: one) == isStrong)
        #expect(one.isWeaklyEqual(to: other) == isWeak)
        #expect(other.isWeaklyEqual(to: one) == isWeak)
    }

    @Test(arguments: [
        ("\"a\"", ["\"a\""]), ("\"a\", W/\"b\",\"c\"", ["\"a\"", "W/\"b\"", "\"c\""]),
        ("\"a,b\" , \"c\"", ["\"a,b\"", "\"c\""]),
        ("", []), (" , ", []), ("\"a\", b, \"c\"", ["\"a\""]), ("\"a", []),
    ])
    func listEndsAtMalformedMember(field: String, expected: [String]) {
        #expect(ETag.list(field).map(\.description) == expected)
    }
}
