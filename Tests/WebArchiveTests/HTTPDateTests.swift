import Testing
import WebArchive

struct HTTPDateTests {
    // 784111777 is from `date -u -d "Sun, 06 Nov 1994 08:49:37 GMT" +%s`, the three spellings from RFC 9110 §5.6.7.
    @Test(arguments: [
        "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
    ])
    func parsesAllThreeFormats(text: String) { #expect(HTTPDate.seconds(of: text) == 784_111_777) }

    // From `date -u -d TEXT +%s` of coreutils.
    @Test(arguments: [
        (0, "Thu, 01 Jan 1970 00:00:00 GMT"), (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"),
        (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"), (951_868_799, "Tue, 29 Feb 2000 23:59:59 GMT"),
        (1_735_689_599, "Tue, 31 Dec 2024 23:59:59 GMT"), (2_147_483_648, "Tue, 19 Jan 2038 03:14:08 GMT"),
        (4_107_542_400, "Mon, 01 Mar 2100 00:00:00 GMT"), (-1, "Wed, 31 Dec 1969 23:59:59 GMT"),
    ])
    func writesIMFFixdate(seconds: Int, text: String) {
        #expect(HTTPDate.text(ofSeconds: seconds) == text)
        #expect(HTTPDate.seconds(of: text) == seconds)
    }

    @Test(arguments: [
        "", "yesterday", "784111777", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 CET",
        "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 Nov 1994 08:60:37 GMT", "Sun, 06 Nov 1994 08:49:61 GMT",
        "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 32 Nov 1994 08:49:37 GMT", "Wed, 31 Feb 1994 08:49:37 GMT",
        "Tue, 29 Feb 2023 08:49:37 GMT", "Sun, 06 Foo 1994 08:49:37 GMT", "Sun, 06 Nov 99999 08:49:37 GMT",
        "Sun, 06 Nov 1994 08:49 GMT", "Sun, 06 Nov 1994 +8:49:37 GMT", "Sun, +6 Nov 1994 08:49:37 GMT",
        "1994-11-06T08:49:37Z", "Sun, 06 Nov 99999999999999999999 08:49:37 GMT",
    ])
    func otherTextsAreNil(text: String) { #expect(HTTPDate.seconds(of: text) == nil) }
}
