/// Words that say little of what a text is about, such as "the", "how" and "do", for each language that has rules for other
/// forms of words. A page need not have them, and a text without a declared language is recognized by them.
enum FunctionWords {
    /// Folded words of languages, by primary language subtag.
    static let byLanguage: [String: Set<Substring>] = table.mapValues { Set($0.split(separator: " ")) }

    /// Returns the language of a text; empty if it isn't clear.
    ///
    /// - Parameter folded: Folded words, separated by spaces.
    static func language(of folded: String) -> String {
        var counts = [Int](repeating: 0, count: names.count)
        var total = 0
        var folded = folded
        folded.withUTF8 { text in
            var word = Key()
            func end() {
                guard word.length > 0 else { return }
                total += 1
                if word.length <= Key.lengthMax, let found = languages[word] {
                    for language in found { counts[language] += 1 }
                }
                word = Key()
            }
            for byte in text.prefix(bytesRead) {
                if byte == 0x20 { end() } else { word.append(byte) }
            }
            end()
        }
        let best = counts.indices.sorted { (counts[$0], names[$1]) > (counts[$1], names[$0]) }
        // In all of these languages, such words are at least a sixth of a text.
        let (first, second) = (counts[best[0]], counts[best[1]])
        guard first >= foundMin, first * 8 >= total, second * 5 <= first * 4 else { return "" }
        return names[best[0]]
    }

    /// The length of the text that is read.
    private static let bytesRead = 2000
    private static let foundMin = 4

    /// A word as numbers, which are found faster than a text: its length and its last 16 bytes.
    private struct Key: Hashable {
        /// No word of the table is longer.
        static let lengthMax = 16

        private(set) var length = 0
        private var (low, high): (UInt64, UInt64) = (0, 0)

        mutating func append(_ byte: UInt8) {
            length += 1
            (high, low) = (high << 8 | low >> 56, low << 8 | UInt64(byte))
        }

        /// Few words have the same last bytes, so these are enough.
        func hash(into hasher: inout Hasher) { hasher.combine(low) }
    }

    private static let names = byLanguage.keys.sorted()

    /// The languages that have a word, as indexes of `names`.
    private static let languages: [Key: [Int]] = names.indices.reduce(into: [:]) { languages, number in
        for word in byLanguage[names[number]] ?? [] {
            let key = word.utf8.reduce(into: Key()) { $0.append($1) }
            languages[key, default: []].append(number)
        }
    }

    private static let table = [
        "da": """
        af at blev da de den der det dette du eller en er et for fra han har hun hvad hvem hvor hvordan hvorfor i ikke jeg \
        kan man med men og om pa sig skal som til ud var ved vi vil
        """,
        "de": """
        aber als am an auch auf aus bei bin bis das dass dem den der des die durch ein eine einem einen einer er es fur hat \
        ich im in ist man mit nach nicht oder sich sie sind uber um und von vor wann war warum was welche wenn wer werden wie \
        wir wird wo zu zum zur
        """,
        "el": """
        αλλα ανα απο για δεν ειναι εχει η θα και κατα με μετα μια να ο οι οπως οτι που πως προς σε στη στην στο στον τα την της \
        τι το τον του των
        """,
        "en": """
        a about an and are as at be by can could did do does for from had has have he how i if in into is it its my of on or our \
        she should that the their there these they this to was we were what when where which who why will with would you your
        """,
        "es": """
        al como con cual cuando de del donde el ella ellos en entre era es esta este fue ha hay la las le lo los mas me muy o \
        para pero por porque que quien se ser si sin sobre son su sus tambien tiene un una y ya yo
        """,
        "fi": """
        ei ennen eli etta han hanen he ja jo joka jonka jos kanssa kuin kuinka kun me mika mita miten missa mutta myos ne niin \
        nyt oli olla on ovat se sen siita tai tama vain voi
        """,
        "fr": """
        a au aux avec ce ces cette comment dans de des dont du elle en est et etait etre il ils je la le les leur lui mais ne \
        nous ou par pas plus pour pourquoi quand que quel quelle qui sa sans se ses son sont sur un une vous
        """,
        "hu": """
        a az azt be csak de egy el ez ezt es hogy hogyan ha hol ki kell le lehet meg mert mi mikor mint mit nem o pedig szerint \
        van vagy volt
        """,
        "it": """
        a al alla anche che chi ci come con cosa da dal dalla de dei del della delle di dove e ed era gli i il in io la le lo ma \
        nel nella non o per perche piu quando se si sono su sua suo un una
        """,
        "nl": """
        aan als bij dan dat de der deze die dit door een en er had heeft hebben het hij hoe ik in is je kan maar met na naar \
        niet nog of om ook op te tot uit van voor waar waarom wanneer was wat werd wie wij worden ze zich zijn zo
        """,
        "no": """
        av at ble da de den der det dette du eller en er et etter for fra han har hun hva hvem hvor hvordan hvorfor i ikke jeg \
        kan man med men og om pa seg skal som til ut var ved vi vil
        """,
        "pt": """
        a ao aos as com como da das de do dos e ela ele em entre era esta foi ha isso ja mais mas na nao nas no nos o onde os ou \
        para pela pelo por porque quando que quem se sem ser seu sua sao tambem um uma voce
        """,
        "ro": """
        a al ale am ar au ca care ce cu cum cand de din dar de este in la mai nu o pe pentru prin sa sau se sunt si unde un unei \
        unui
        """,
        "ru": """
        а без бы был была были было в во вы где да для до его ее если еще же за и из или к как когда кто ли мы на не него но о \
        об он она они от по под при с со так также то что чтобы это я
        """,
        "sv": """
        att av blev da de den det denna dig du eller en ett fran for han har hon hur i inte jag kan man med men mot nar och om \
        pa sa sig ska som till ut vad var varfor vem vi vid ar
        """,
        "tr": """
        ama ancak bir bu cok da daha de degil diye en gibi her icin ile ise kadar ki mi nasil ne neden o olan olarak sonra su \
        var ve veya ya
        """,
    ]
}
