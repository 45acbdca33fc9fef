import TestSupport
import Testing
import WebArchive

@testable import ArchiveStore

/// Which of several records answers a request. WARC 1.1 §6: only responses, resources and revisits are captures; §6.7: what
/// a revisit repeats.
struct RightCaptureTests {
    typealias Record = RecordedArchive.Record

    private let test: TestStore
    private let url = "http://a.example/"

    init() throws { test = try TestStore() }

    private func add(_ records: [Record], as name: String = "crawl") throws -> Archive {
        try test.store.importFile(at: test.folder.write(RecordedArchive(records).bytes(), to: "\(name).wacz")).archive
    }

    /// Returns the first bytes that answer a request as text, and the time of the capture that has them.
    private func answer(_ digits: String?, of url: String? = nil, in archives: [Archive]) throws -> [String]? {
        let request = ArchiveStore.CaptureRequest(
            url: url ?? self.url, time: digits.flatMap { CaptureTimestamp(digits: $0) })
        let found = try test.store.resolver.openCapture(request, in: archives, allowsFuzzyMatch: false)
        return try found.map { capture in
            let bytes = try capture.body.open(decoded: true).read(upTo: 1000)
            let payload = capture.payloadCapture?.timestamp ?? capture.entry.timestamp
            return [String(decoding: bytes, as: UTF8.self), payload]
        }
    }

    private func state(_ text: String, _ timestamp: String, status: Int = 200) -> Record {
        Record(url, text, timestamp: timestamp, status: status)
    }

    /// A revisit with the profile `server-not-modified`, as Heritrix writes it, with the digest of the empty body.
    private func unchanged(_ timestamp: String, fields: [String] = []) -> Record {
        Record(url, "", timestamp: timestamp).with {
            $0.type = "revisit"
            $0.head = ""
            $0.index = "\"mime\":\"warc/revisit\",\"digest\":\"sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ\""
            $0.fields =
                [
                    "WARC-Payload-Digest: sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ",
                    "WARC-Profile: http://netpreserve.org/warc/1.1/revisit/server-not-modified",
                ] + fields
        }
    }

    /// A revisit as HTTrack writes it: without a digest, and with the head of a 200.
    private func unchangedWithHead(_ timestamp: String) -> Record {
        unchanged(timestamp).with {
            $0.head = "HTTP/1.1 200 OK\r\nContent-Type: text/html"
            $0.index = "\"mime\":\"warc/revisit\",\"status\":\"200\""
            $0.fields.removeFirst()
        }
    }

    private func identical(_ timestamp: String, digest: String) -> Record {
        unchangedWithHead(timestamp).with {
            $0.index = "\"mime\":\"warc/revisit\",\"digest\":\"\(digest)\""
            $0.fields = [
                "WARC-Payload-Digest: \(digest)",
                "WARC-Profile: http://netpreserve.org/warc/1.1/revisit/identical-payload-digest",
            ]
        }
    }

    // Unchanged ---------------------------------------------------------------------------------------------------

    enum Unchanged: CaseIterable { case revisit, revisitWithHead, response }

    private func unchanged(_ timestamp: String, as form: Unchanged) -> Record {
        switch form {
        case .revisit: unchanged(timestamp)
        case .revisitWithHead: unchangedWithHead(timestamp)
        case .response: state("", timestamp, status: 304)
        }
    }

    /// The later state is the closer one.
    @Test(arguments: Unchanged.allCases) func whatIsUnchangedIsTheStateBefore(form: Unchanged) throws {
        let archive = try add([
            state("oldest", "20190101000000"), state("v1", "20200101000000"), unchanged("20200601000000", as: form),
            state("v2", "20200602000000"),
        ])
        #expect(try answer("20200601000000", in: [archive]) == ["v1", "20200101000000"])
        #expect(try answer("20200602000000", in: [archive]) == ["v2", "20200602000000"])
        #expect(try answer(nil, in: [archive]) == ["v2", "20200602000000"])
    }

    /// Who reads the record of what is shown gets the record that has its bytes, too.
    @Test(arguments: Unchanged.allCases) func recordOfTheStateBeforeIsNamed(form: Unchanged) throws {
        let archive = try add([
            state("v1", "20200101000000"), unchanged("20200601000000", as: form), state("v2", "20200602000000"),
        ])
        func records(_ time: String) throws -> [CaptureRecord] {
            let nothingElse = CaptureRecord.Extras()
            return try test.store.resolver.records(ofURL: url, at: time, in: archive, nothingElse) { true }
        }
        #expect(try records("20200601000000").map { $0.repeated.map(\.entry.timestamp) } == [["20200101000000"]])
        #expect(try records("20200602000000").map { $0.repeated.count } == [0])
    }

    @Test(arguments: Unchanged.allCases) func unchangedStatesFollowEachOther(form: Unchanged) throws {
        let days = (10...29).map { unchanged("202001\($0)000000", as: form) }
        let archive = try add([state("v1", "20200101000000")] + days + [state("v2", "20200201000000")])
        #expect(try answer("20200129000000", in: [archive]) == ["v1", "20200101000000"])
    }

    @Test(arguments: Unchanged.allCases) func nothingBeforeIsNotRecorded(form: Unchanged) throws {
        let archive = try add([
            state("error", "20191231000000", status: 500), state("part", "20200201000000", status: 206),
            Record(url, to: "https://a.example/", timestamp: "20200101000000"),
            unchanged("20200601000000", as: form), state("v2", "20200602000000"),
        ])
        #expect(code { _ = try answer("20200601000000", in: [archive]) } == .payloadMissing)
        #expect(try answer("20200602000000", in: [archive]) == ["v2", "20200602000000"])
    }

    /// A partial response that has the whole body is to be processed as a 200. RFC 9110 §15.3.7.3.
    @Test(arguments: [
        ("bytes 0-1/2", true), ("bytes 0-1/3", false), ("bytes 1-2/3", false), ("bytes 0-1/*", false),
        // The record was cut.
        ("bytes 0-2/3", false),
    ])
    func wholePartIsAState(range: String, isState: Bool) throws {
        let part = state("v1", "20200101000000", status: 206).with { $0.head += "\r\nContent-Range: \(range)" }
        let names = ["WARC-Refers-To-Target-URI: \(url)", "WARC-Refers-To-Date: 2020-01-01T00:00:00Z"]
        for (number, later) in [unchanged("20200601000000"), unchanged("20200601000000", fields: names)].enumerated() {
            let archive = try add([part, later], as: "a\(number)")
            let found = try? answer("20200601000000", in: [archive])
            #expect(found == (isState ? ["v1", "20200101000000"] : nil))
            #expect(try missing(in: archive).isEmpty == isState)
        }
    }

    /// More than are kept at once, and with times that are kept.
    @Test(arguments: [Unchanged.revisit, .response]) func anyNumberOfUnchangedStatesIsPassed(form: Unchanged) throws {
        let times = (0..<1200).map { 20_200_101_000_000 + $0 / 60 * 100 + $0 % 60 }
        let archive = try add([state("v1", "20190101000000")] + times.map { unchanged("\($0)", as: form) })
        #expect(try answer(nil, in: [archive]) == ["v1", "20190101000000"])
        guard form == .revisit else { return }
        // Each record that is opened for it is charged.
        let step = Resolver(store: test.store, allowances: Allowances(Allowance(bytes: 1000 << 14), for: archive))
        let error = #expect(throws: WebArchiveError.self) {
            try step.openCapture(.init(url: url, time: nil), in: [archive], allowsFuzzyMatch: false)
        }
        #expect(error?.code == .tooCostly)
    }

    @Test(arguments: Unchanged.allCases) func stateBeforeIsInTheCollection(form: Unchanged) throws {
        let one = try add([state("v1", "20200101000000")], as: "one")
        let two = try add([unchanged("20200601000000", as: form), state("v2", "20200602000000")], as: "two")
        let other = try add([state("v3", "20200401000000")], as: "other")
        #expect(try answer("20200601000000", in: [two, one]) == ["v1", "20200101000000"])
        #expect(try answer("20200601000000", in: [two, one, other]) == ["v3", "20200401000000"])
        #expect(code { _ = try answer("20200601000000", in: [two]) } == .payloadMissing)
    }

    /// If that is in no archive, an older state isn't it.
    @Test func stateBeforeIsOneThatIsRepeated() throws {
        let digest = "sha1:KS2J7T2KOPFEMXDBFEIOYH33C6KYZQ5C"
        let records = [
            state("v1", "20200101000000"), identical("20200301000000", digest: digest), unchanged("20200601000000"),
        ]
        let same = state("same", "20190101000000").with { $0.index += ",\"digest\":\"\(digest)\"" }
        let archive = try add(records + [same])
        #expect(try answer("20200601000000", in: [archive]) == ["same", "20190101000000"])
        let without = try add(records, as: "without")
        #expect(code { _ = try answer("20200601000000", in: [without]) } == .payloadMissing)
    }

    /// What the record names counts, unless it's later.
    @Test(arguments: [("2019-01-01T00:00:00Z", "v0"), ("2020-06-02T00:00:00Z", "v1"), ("2018-01-01T00:00:00Z", "v1")])
    func namedStateIsUsed(date: String, expected: String) throws {
        let names = ["WARC-Refers-To-Target-URI: \(url)", "WARC-Refers-To-Date: \(date)"]
        let archive = try add([
            state("v0", "20190101000000"), state("v1", "20200101000000"), unchanged("20200601000000", fields: names),
            state("v2", "20200602000000"),
        ])
        #expect(try answer("20200601000000", in: [archive])?.first == expected)
    }

    @Test func namedStateOfAnotherURLIsInTheCollection() throws {
        let names = ["WARC-Refers-To-Target-URI: http://a.example/other", "WARC-Refers-To-Date: 2019-01-01T00:00:00Z"]
        let other = try add([Record("http://a.example/other", "named", timestamp: "20190101000000")], as: "other")
        let one = try add([unchanged("20200601000000", fields: names)], as: "one")
        #expect(try answer("20200601000000", in: [one, other])?.first == "named")
    }

    /// `printf v1 | sha1sum`, in base32.
    private static let digestOfV1 = "LJW7OICUBQQNSXKTBU75NCCVCERD2XJA"

    /// The original states no digest, or one by another algorithm.
    @Test(arguments: [nil, "sha256:3bfc269594ef649228e9a74bab00f042efc91d5acc6fbee31a382e80d42388fe"])
    func bodyIsHashedIfNothingStatesItsDigest(stated: String?) throws {
        let original = state("v1", "20200101000000").with {
            if let stated {
                $0.fields = ["WARC-Payload-Digest: \(stated)"]
                $0.index += ",\"digest\":\"\(stated)\""
            }
        }
        let right = try add(
            [original, identical("20200601000000", digest: "sha1:\(Self.digestOfV1)"), state("v2", "20200602000000")],
            as: "right")
        #expect(try answer("20200601000000", in: [right]) == ["v1", "20200101000000"])
        #expect(try missing(in: right).isEmpty)
        let other = "sha1:\(String(repeating: "A", count: 32))"
        let wrong = try add([original, identical("20200601000000", digest: other)], as: "wrong")
        #expect(try missing(in: wrong).count == 1)
    }

    /// Damage is one issue, which names all captures that can't be shown because of it.
    @Test func damageNamesTheRevisitsOfItsContent() throws {
        let first = Record("http://a.example/other", "v1", timestamp: "20200101000000")
        let names = ["WARC-Refers-To-Target-URI: http://a.example/other", "WARC-Refers-To-Date: 2020-01-01T00:00:00Z"]
        var bytes = RecordedArchive([first, unchanged("20200601000000", fields: names)]).bytes()
        let member = try #require(bytes.firstRange(of: GeneratedArchive.gzip(first.bytes())))
        bytes[member.lowerBound + 12] ^= 0x55
        let archive = try test.store.importFile(at: test.folder.write(bytes, to: "crawl.wacz")).archive
        let report = try #require(try test.store.verifications.verify(archive, trust: nil) { _ in })
        let errors = report.result.findings.filter { $0.severity == .error }
        #expect(errors.map(\.code) == ["crc-differs"])
        #expect(Set(errors.first?.urls ?? []) == ["http://a.example/other", url])
        #expect(report.result.revisits.failed == 1)
    }

    /// Returns what a verification of the archive misses, which is what one of the file alone misses.
    private func missing(in archive: Archive) throws -> [MissingPayload] {
        let report = try #require(try test.store.verifications.verify(archive, trust: nil) { _ in })
        let wacz = try WACZFile.open(path: test.layout.file(archive.key))
        #expect(try ArchiveVerifier(wacz, lookups: FileLookups(wacz)).run().missing == report.result.missing)
        let missing = report.result.missing ?? []
        #expect(report.result.revisits.failed == missing.count)
        #expect(report.result.findings.count { $0.code == "revisit-unresolved" } == missing.count)
        return missing
    }

    /// By a verification of the archive, and of the file alone.
    @Test(arguments: Unchanged.allCases) func verificationKnowsWhetherThereIsAStateBefore(form: Unchanged) throws {
        for (time, expected) in [("20190101000000", true), ("20210101000000", false)] {
            let archive = try add([state("v", time), unchanged("20200601000000", as: form)], as: "a\(time)")
            let missing = try missing(in: archive)
            #expect(missing.map(\.timestamp) == (expected ? [] : ["20200601000000"]))
            #expect(missing.allSatisfy { $0.isUnchanged && $0.digest == nil && $0.storedAt == nil })
            let found = try? answer("20200601000000", in: [archive])
            #expect((found != nil) == expected)
        }
    }

    /// The index calls a 304, or an error, a success.
    @Test(arguments: [304, 404]) func verificationReadsTheStateBefore(status: Int) throws {
        let false200 = state("", "20190101000000", status: status).with {
            $0.index = "\"mime\":\"text/html\",\"status\":\"200\""
        }
        let archive = try add([false200, unchanged("20200601000000")])
        #expect(try missing(in: archive).map(\.timestamp) == ["20200601000000"])
        #expect(code { _ = try answer("20200601000000", in: [archive]) } == .payloadMissing)
    }

    // Identical ---------------------------------------------------------------------------------------------------

    /// `printf same | sha1sum`, in base32.
    private static let digest = "sha1:74ZZAVLTGW5IRU3XKXSBKFF6WA54JGPM"

    /// The digest is in the index, or only in the record.
    @Test(arguments: [true, false]) func repeatedPayloadHasTheDigest(isInIndex: Bool) throws {
        let right = state("right", "20190101000000").with {
            if isInIndex {
                $0.index += ",\"digest\":\"\(Self.digest)\""
            } else {
                $0.fields = ["WARC-Payload-Digest: \(Self.digest)"]
            }
        }
        let archive = try add([
            right, state("wrong", "20200101000000"), identical("20200601000000", digest: Self.digest),
        ])
        #expect(try answer("20200601000000", in: [archive]) == ["right", "20190101000000"])
    }

    /// Another capture is then shown as such: at its own time.
    @Test func payloadWithoutTheDigestIsNotRepeated() throws {
        let archive = try add([state("wrong", "20200101000000"), identical("20200601000000", digest: Self.digest)])
        let request = ArchiveStore.CaptureRequest(url: url, time: CaptureTimestamp(digits: "20200601000000"))
        let capture = try #require(
            try test.store.resolver.openCapture(request, in: [archive], allowsFuzzyMatch: false))
        #expect(capture.isSubstitute)
        #expect(capture.entry.timestamp == "20200101000000")
    }

    private func first(_ text: String) -> Record {
        Record("http://a.example/first", text, timestamp: "20200101000000").with {
            $0.fields = ["WARC-Payload-Digest: \(Self.digest)"]
            $0.index += ",\"digest\":\"\(Self.digest)\""
        }
    }

    private let namesFirst = [
        "WARC-Refers-To-Target-URI: http://a.example/first", "WARC-Refers-To-Date: 2020-01-01T00:00:00Z",
    ]

    /// The state before an unchanged one is a revisit, whose payload is under another URL. Each has only one of the names.
    @Test(arguments: [0..<1, 0..<2]) func payloadOfTheStateBeforeIsUnderAnotherURL(names: Range<Int>) throws {
        let before = identical("20200301000000", digest: Self.digest).with { $0.fields += namesFirst[names] }
        let days = (10...29).map { unchanged("202006\($0)000000") }
        let whole = try add([first("same"), before] + days, as: "whole")
        #expect(try answer("20200629000000", in: [whole]) == ["same", "20200101000000"])
        #expect(try missing(in: whole).isEmpty)

        // Only the archive of the other URL has it.
        let (one, two) = (try add([first("same")], as: "one"), try add([before] + days, as: "two"))
        #expect(try answer("20200629000000", in: [two, one]) == ["same", "20200101000000"])
        #expect(code { _ = try answer("20200629000000", in: [two]) } == .payloadMissing)
        #expect(try missing(in: two).count == 21)
    }

    // Content of other files --------------------------------------------------------------------------------------

    /// As it is, or changed in one byte, with and without a coding. What its own archive states about it proves nothing.
    @Test(arguments: ["same", "sama"], [true, false])
    func contentOfAnotherFileIsHashed(text: String, isChunked: Bool) throws {
        let original = first(text).with {
            guard isChunked else { return }
            $0.head += "\r\nTransfer-Encoding: chunked"
            $0.body = Array("2\r\n\(text.prefix(2))\r\n2\r\n\(text.suffix(2))\r\n0\r\n\r\n".utf8)
        }
        let again = identical("20200601000000", digest: Self.digest).with { $0.fields += namesFirst }
        let (one, two) = (try add([original], as: "one"), try add([again], as: "two"))
        let isRight = text == "same"
        // The second time, the comparison is known.
        for _ in 0..<2 {
            #expect(try answer("20200601000000", in: [two, one], orMissing: !isRight) == (isRight ? "same" : nil))
        }
        let report = try test.store.verifications.verify(two, trust: nil, in: [two, one]) { _ in }
        #expect(report?.result.missing?.count == (isRight ? nil : 1))
        // Nor is it offered, or read from an archive that is required by its SHA-256.
        let missing = try #require(try test.store.verifications.verify(two, trust: nil) { _ in }?.result.missing)
        #expect(try test.store.resolver.holders(of: missing, in: two, besides: []).count == (isRight ? 1 : 0))
        let requiring = RecordedArchive([again], requires: one.sha256)
        let three = try test.store.importFile(at: test.folder.write(requiring.bytes(), to: "three.wacz")).archive
        #expect(try answer("20200601000000", in: [three], orMissing: !isRight) == (isRight ? "same" : nil))
        // In its own archive, it's the capture that is named.
        let own = try add([original, again], as: "own")
        #expect(try answer("20200601000000", in: [own])?.first == text)
    }

    /// The file changes after it was compared, in place and with the same size.
    @Test func contentOfAnotherFileIsHashedAgainAfterAChange() throws {
        let bytes = RecordedArchive([first("same")], isCompressed: false).bytes()
        let one = try test.store.importFile(at: test.folder.write(bytes, to: "one.wacz")).archive
        let again = identical("20200601000000", digest: Self.digest).with { $0.fields += namesFirst }
        let two = try add([again], as: "two")
        #expect(try answer("20200601000000", in: [two, one])?.first == "same")
        let place = try #require(bytes.firstRange(of: Array("\r\n\r\nsame".utf8))).upperBound - 1
        try change(test.layout.file(one.key), .inPlace, at: place)
        #expect(code { _ = try answer("20200601000000", in: [two, one]) } == .payloadMissing)
    }

    private func answer(_ digits: String, in archives: [Archive], orMissing: Bool) throws -> String? {
        guard orMissing else { return try answer(digits, in: archives)?.first }
        #expect(code { _ = try answer(digits, in: archives) } == .payloadMissing)
        return nil
    }

    /// A payload with the digest that replay doesn't find counts as missing.
    @Test func payloadThatNothingNamesIsMissing() throws {
        let archive = try add([first("same"), identical("20200601000000", digest: Self.digest)])
        #expect(code { _ = try answer("20200601000000", in: [archive]) } == .payloadMissing)
        #expect(
            try missing(in: archive).map { [$0.url, $0.timestamp, $0.storedURL, $0.storedAt, $0.digest] }
                == [[url, "20200601000000", nil, nil, Self.digest]])
    }

    /// The digest is that of the empty body, which another capture has.
    @Test func digestOfAnUnchangedCaptureSaysNothing() throws {
        let empty = Record("http://a.example/empty", "").with {
            $0.index += ",\"digest\":\"sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ\""
        }
        #expect(try missing(in: add([empty, unchanged("20200601000000")])).count == 1)
    }

    // Other records -----------------------------------------------------------------------------------------------

    /// As the indexes of py-wacz list them: with a media type, and without a status.
    @Test(arguments: ["metadata", "conversion", "request", "warcinfo"])
    func recordsThatAreNoCapturesAreNeverShown(type: String) async throws {
        let note = Record(url, "via: http://b.example/", timestamp: "20200101000000").with {
            $0.type = type
            $0.head = ""
            $0.fields = ["Content-Type: text/anvl"]
            // Sorts before the response.
            $0.index = "\"digest\":\"sha1:\(String(repeating: "A", count: 32))\",\"mime\":\"text/anvl\""
        }
        let later = note.with { $0.timestamp = "20210101000000" }
        let lone = note.with { $0.url = "http://a.example/lone" }
        let archive = try add([note, state("page", "20200101000000"), later, lone])
        for time in [nil, "20200101000000", "20210101000000"] {
            #expect(try answer(time, in: [archive]) == ["page", "20200101000000"])
        }
        #expect(try answer(nil, of: "http://a.example/lone", in: [archive]) == nil)
        #expect(archive.summary.captureCount == 1)
        let wacz = try test.store.openArchives.lookups(archive, Allowances()).wacz
        #expect(try wacz.captures(ofURL: url).map(\.timestamp) == ["20200101000000"])
        #expect(
            try wacz.firstCaptures(matching: CaptureQuery(url: url, matchType: .prefix), limit: 9, CancellationCheck())
                .count == 1)
        // Without the index that the import made.
        let own = try WACZFile.open(path: test.layout.file(archive.key))
        #expect(try own.closestCapture(toURL: url, at: nil)?.status == 200)
        #expect(try own.inspect().captureCount == 1)
    }

    @Test func resourceIsACapture() throws {
        let resource = Record(url, "resource", timestamp: "20210101000000").with {
            $0.type = "resource"
            $0.head = ""
            $0.fields = ["Content-Type: text/html"]
            $0.index = "\"mime\":\"text/html\""
        }
        let archive = try add([state("page", "20200101000000"), resource])
        #expect(try answer(nil, in: [archive]) == ["resource", "20210101000000"])
        #expect(archive.lookups?.strategy == .inPlace)
    }

    // Spellings ---------------------------------------------------------------------------------------------------

    /// At one time, with one key.
    @Test(arguments: [
        ["http://a.example/", "http://a.example/?"], ["http://a.example/#!/one", "http://a.example/#!/two"],
        ["http://a.example/", "http://a.example/#!/two"], ["http://a.example/a", "https://a.example/a"],
        ["http://a.example/a", "http://a.example/a/"], ["http://a.example/?a", "http://a.example/?A"],
    ])
    func requestedSpellingIsPreferred(urls: [String]) throws {
        for (number, order) in [urls, urls.reversed()].enumerated() {
            let records = order.map { url in
                Record(url, url).with {
                    $0.key = SURT.key(for: url)
                }
            }
            let archive = try add(records, as: "crawl-\(number)")
            for url in urls { #expect(try answer("20240102030405", of: url, in: [archive])?.first == url) }
        }
    }
}
