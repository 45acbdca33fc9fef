import Testing

@testable import ReplayServer

struct ConditionalRequestTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let request: ConditionalRequest
        let expect: ConditionalRequest.Answer
        var isHead = false

        init(
            _ name: String, _ request: ConditionalRequest, _ expect: ConditionalRequest.Answer, isHead: Bool = false
        ) {
            (testDescription, self.request, self.expect, self.isHead) = (name, request, expect, isHead)
        }
    }

    /// What `Last-Modified` says, and a second around it.
    static let modified = "Sun, 06 Nov 1994 08:49:37 GMT"
    static let before = "Sun, 06 Nov 1994 08:49:36 GMT"
    static let after = "Sun, 06 Nov 1994 08:49:38 GMT"
    static let five = ConditionalRequest.Answer.ranges((try? ByteRange.parse("bytes=0-4", size: 100)) ?? [])

    static let steps: [Case] = [
        Case("nothing asked", .init(), .whole),
        // §13.2.2 step 1: If-Match, by strong comparison (§13.1.1).
        Case("If-Match holds", .init(ifMatch: "\"a\""), .whole),
        Case("If-Match *", .init(ifMatch: "*"), .whole),
        Case("If-Match holds in a list", .init(ifMatch: "\"b\", \"a\""), .whole),
        Case("If-Match fails", .init(ifMatch: "\"b\""), .preconditionFailed),
        Case("If-Match is strong", .init(ifMatch: "W/\"a\""), .preconditionFailed),
        Case("If-Match before If-None-Match", .init(ifMatch: "\"b\"", ifNoneMatch: "\"a\""), .preconditionFailed),
        // Step 2: If-Unmodified-Since, only without If-Match (§13.1.4).
        Case("unmodified since then", .init(ifUnmodifiedSince: modified), .whole),
        Case("modified since then", .init(ifUnmodifiedSince: before), .preconditionFailed),
        Case("If-Unmodified-Since no date", .init(ifUnmodifiedSince: "yesterday"), .whole),
        Case("If-Match overrides it", .init(ifMatch: "\"a\"", ifUnmodifiedSince: before), .whole),
        // Step 3: If-None-Match, by weak comparison (§13.1.2).
        Case("If-None-Match holds", .init(ifNoneMatch: "\"b\""), .whole),
        Case("If-None-Match fails", .init(ifNoneMatch: "\"a\""), .notModified),
        Case("If-None-Match *", .init(ifNoneMatch: "*"), .notModified),
        Case("If-None-Match is weak", .init(ifNoneMatch: "W/\"a\""), .notModified),
        Case("If-None-Match in a list", .init(ifNoneMatch: "\"b\", W/\"a\""), .notModified),
        // Step 4: If-Modified-Since, only without If-None-Match (§13.1.3).
        Case("not modified since", .init(ifModifiedSince: modified), .notModified),
        Case("not modified since later", .init(ifModifiedSince: after), .notModified),
        Case("modified since", .init(ifModifiedSince: before), .whole),
        Case("If-Modified-Since no date", .init(ifModifiedSince: "soon"), .whole),
        Case("If-None-Match overrides it", .init(ifNoneMatch: "\"b\"", ifModifiedSince: after), .whole),
        // Step 5: If-Range (§13.1.5), strong comparison; a date must be exactly the one sent.
        Case("Range alone", .init(range: "bytes=0-4"), five),
        Case("If-Range is the tag", .init(ifRange: "\"a\"", range: "bytes=0-4"), five),
        Case("If-Range is another tag", .init(ifRange: "\"b\"", range: "bytes=0-4"), .whole),
        Case("If-Range is weak", .init(ifRange: "W/\"a\"", range: "bytes=0-4"), .whole),
        Case("If-Range is the date", .init(ifRange: modified, range: "bytes=0-4"), five),
        Case("If-Range is an earlier date", .init(ifRange: before, range: "bytes=0-4"), .whole),
        Case("If-Range is a later date", .init(ifRange: after, range: "bytes=0-4"), .whole),
        Case("If-Range is nothing", .init(ifRange: "a", range: "bytes=0-4"), .whole),
        Case("If-Range false hides a 416", .init(ifRange: "\"b\"", range: "bytes=100-"), .whole),
        Case("If-Range without Range", .init(ifRange: "\"b\""), .whole),
        // What comes first decides.
        Case("304 before Range", .init(ifNoneMatch: "\"a\"", range: "bytes=0-4"), .notModified),
        Case("304 before 416", .init(ifNoneMatch: "\"a\"", range: "bytes=100-"), .notModified),
        Case("412 before 416", .init(ifMatch: "\"b\"", range: "bytes=100-"), .preconditionFailed),
        Case("beyond the end", .init(range: "bytes=100-"), .rangeNotSatisfiable),
        Case("malformed", .init(range: "bytes=a-b"), .whole),
        // §14.2: ranges are defined for GET alone.
        Case("HEAD ignores Range", .init(range: "bytes=0-4"), .whole, isHead: true),
        Case("HEAD ignores a bad Range", .init(range: "bytes=100-"), .whole, isHead: true),
        Case("HEAD has 304", .init(ifNoneMatch: "\"a\""), .notModified, isHead: true),
        Case("HEAD has 412", .init(ifMatch: "\"b\""), .preconditionFailed, isHead: true),
    ]

    @Test(arguments: steps)
    func preconditionsAreEvaluatedInOrder(_ c: Case) {
        let answer = c.request.answer(tag: ETag(strong: "a"), modifiedAt: 784_111_777, size: 100, isHead: c.isHead)
        #expect(answer == c.expect)
    }
}
