import GRDB
import WebArchive

/// How a query is carried out: first with the words as they were typed, then with other forms of them.
struct SearchPlan {
    /// The query of the search index, with the words as they were typed; `nil` if there are no words and no facets.
    let exact: MatchExpression?
    private let query: SearchQuery
    private let languages: [String]
    /// Words that a page need not have.
    let optional: Set<String>

    init(_ query: SearchQuery, _ database: Database) throws {
        self.query = query
        languages = try WordForms.languages(database)
        optional = Self.optionalWords(query, languages)
        exact = query.expression(without: optional)
    }

    /// The words and phrases that a page has to have.
    var needed: [SearchQuery.Term] {
        query.terms.filter { $0.typed == nil || !optional.contains($0.words[0]) }
    }

    /// Returns a query that also finds other forms of the words, and the forms by folded word; `nil` if there are none.
    func wider(_ database: Database) throws -> (expression: MatchExpression, forms: [String: [String]])? {
        let terms = needed.filter { $0.typed != nil }.prefix(Self.wordsMax)
        guard !terms.isEmpty else { return nil }
        let finder = WordForms(database, languages)
        var alternatives: [SearchQuery.Term: MatchExpression] = [:]
        var forms: [String: [String]] = [:]
        for term in terms {
            let found = try finder.forms(of: term)
            guard !found.isEmpty else { continue }
            let others = found.compactMap { item in
                term.expression(for: item.words).flatMap {
                    MatchExpression.all([$0, MatchExpression(phrase: SearchFacet.formsLanguage(item.language))])
                }
            }
            alternatives[term] = MatchExpression.any([term.expression] + others)
            forms[term.words[0], default: []] += found.flatMap(\.words)
        }
        guard !forms.isEmpty else { return nil }
        let expression = query.expression(without: optional) { alternatives[$0] ?? $0.expression }
        return expression.map { ($0, forms) }
    }

    /// Returns the words that say little in a language of the library, if there are others.
    private static func optionalWords(_ query: SearchQuery, _ languages: [String]) -> Set<String> {
        let known = languages.compactMap { FunctionWords.byLanguage[$0] }
        let optional = query.terms.filter { term in
            term.typed != nil && !term.isInTitle && known.contains { $0.contains(term.words[0][...]) }
        }
        return optional.count == query.terms.count ? [] : Set(optional.map { $0.words[0] })
    }

    private static let wordsMax = 12
}
