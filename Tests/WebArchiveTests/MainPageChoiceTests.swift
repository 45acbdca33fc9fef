import Testing

@testable import WebArchive

@Suite struct MainPageChoiceTests {
    private struct Case: Sendable, CustomTestStringConvertible {
        let pages: [String]
        let chosen: String
        var testDescription: String { chosen }
    }

    /// Lines of pages.jsonl, and the URL chosen.
    private static let cases = [
        Case(pages: [#"{"url":"https://a.example/x"}"#], chosen: "https://a.example/x"),
        Case(
            pages: [
                #"{"url":"https://a.example/news/1"}"#, #"{"url":"https://b.example/"}"#,
                #"{"url":"https://www.a.example/"}"#,
            ],
            chosen: "https://www.a.example/"),
        Case(
            pages: [#"{"url":"https://a.example/","status":404}"#, #"{"url":"https://a.example/home","status":200}"#],
            chosen: "https://a.example/home"),
        Case(
            pages: [
                #"{"url":"https://b.example/","status":200}"#,
                #"{"url":"https://a.example/start?x=1","status":200,"seed":true}"#,
                #"{"url":"https://a.example/start","status":200}"#,
            ], chosen: "https://a.example/start"),
        Case(pages: [#"{"url":"http://a.example/"}"#, #"{"url":"https://a.example"}"#], chosen: "http://a.example/"),
        Case(pages: [#"{"url":"urn:x"}"#, #"{"url":"https://a.example/"}"#], chosen: "https://a.example/"),
    ]

    @Test(arguments: cases) private func choosesShortestSuccessfulPathOnTheSeedHost(_ c: Case) throws {
        var choice = MainPageChoice()
        for line in c.pages {
            let page = try #require(try Page(line: Array(line.utf8), list: .pages, limits: .standard))
            _ = choice.add(page)
        }
        #expect(choice.page?.url == c.chosen)
    }

    @Test func extraPagesCountOnlyWithoutPages() throws {
        let long = try #require(
            try Page(line: Array(#"{"url":"https://a.example/long"}"#.utf8), list: .pages, limits: .standard))
        let found = try #require(
            try Page(line: Array(#"{"url":"https://a.example/"}"#.utf8), list: .extraPages, limits: .standard))
        var choice = MainPageChoice()
        let goesOn = choice.add(long)
        #expect(goesOn)
        let isOver = !choice.add(found)
        #expect(isOver && choice.page?.url == long.url)
        var other = MainPageChoice()
        _ = other.add(found)
        #expect(other.page?.url == found.url)
    }
}
