/// A character encoding of the web. WHATWG Encoding §4.2, "Names and labels".
package struct TextEncoding: Sendable, Hashable {
    /// Its name in lower case: `shift_jis`.
    package let name: String
    /// The name that iconv has for it, or for an encoding that contains it; empty if it has none.
    let iconvName: String

    static let utf8 = TextEncoding(name: "utf-8", iconvName: "UTF-8")
    static let utf16LE = TextEncoding(name: "utf-16le", iconvName: "UTF-16LE")
    static let utf16BE = TextEncoding(name: "utf-16be", iconvName: "UTF-16BE")
    static let windows1252 = TextEncoding(name: "windows-1252", iconvName: "CP1252")
    /// Takes the place of encodings that browsers don't decode. The text is one U+FFFD.
    static let replacement = TextEncoding(name: "replacement", iconvName: "")
    /// ASCII, and U+F780 to U+F7FF for the other bytes: what pages with fonts of their own used.
    static let userDefined = TextEncoding(name: "x-user-defined", iconvName: "")

    private init(name: String, iconvName: String) {
        (self.name, self.iconvName) = (name, iconvName)
    }

    /// Finds an encoding by a label; `nil` for an unknown one.
    package init?(label: some StringProtocol) {
        let isSpace = { (byte: UInt8) in byte.isHTMLSpace }
        let bytes = label.utf8.drop(while: isSpace).reversed().drop(while: isSpace).reversed()
        guard bytes.count <= Self.labelBytesMax else { return nil }
        let known = Self.byLabel[String(decoding: bytes.map(\.asciiLowercased), as: UTF8.self)]
        guard let known else { return nil }
        self = known
    }

    /// The longest label has 19 bytes.
    private static let labelBytesMax = 64

    private static let byLabel: [String: TextEncoding] = {
        var all: [String: TextEncoding] = [:]
        for (name, iconvName, labels) in table {
            let encoding = TextEncoding(name: name, iconvName: iconvName)
            for label in [name] + labels.split(separator: " ").map(String.init) { all[label] = encoding }
        }
        return all
    }()

    /// The names, iconv's names, and the other labels.
    private static let table: [(name: String, iconvName: String, labels: String)] = [
        ("big5", "BIG5-HKSCS", "big5-hkscs cn-big5 csbig5 x-x-big5"),
        ("euc-jp", "EUCJP-MS", "cseucpkdfmtjapanese x-euc-jp"),
        (
            "euc-kr", "CP949",
            "cseuckr csksc56011987 iso-ir-149 korean ks_c_5601-1987 ks_c_5601-1989 ksc5601 ksc_5601 windows-949"
        ),
        ("gb18030", "GB18030", ""),
        ("gbk", "GB18030", "chinese csgb2312 csiso58gb231280 gb2312 gb_2312 gb_2312-80 iso-ir-58 x-gbk"),
        ("ibm866", "CP866", "866 cp866 csibm866"),
        ("iso-2022-jp", "ISO-2022-JP", "csiso2022jp"),
        ("iso-8859-10", "ISO-8859-10", "csisolatin6 iso-ir-157 iso8859-10 iso885910 l6 latin6"),
        ("iso-8859-13", "ISO-8859-13", "iso8859-13 iso885913"),
        ("iso-8859-14", "ISO-8859-14", "iso8859-14 iso885914"),
        ("iso-8859-15", "ISO-8859-15", "csisolatin9 iso8859-15 iso885915 iso_8859-15 l9"),
        ("iso-8859-16", "ISO-8859-16", ""),
        ("iso-8859-2", "ISO-8859-2", "csisolatin2 iso-ir-101 iso8859-2 iso88592 iso_8859-2 iso_8859-2:1987 l2 latin2"),
        ("iso-8859-3", "ISO-8859-3", "csisolatin3 iso-ir-109 iso8859-3 iso88593 iso_8859-3 iso_8859-3:1988 l3 latin3"),
        ("iso-8859-4", "ISO-8859-4", "csisolatin4 iso-ir-110 iso8859-4 iso88594 iso_8859-4 iso_8859-4:1988 l4 latin4"),
        (
            "iso-8859-5", "ISO-8859-5",
            "csisolatincyrillic cyrillic iso-ir-144 iso8859-5 iso88595 iso_8859-5 iso_8859-5:1988"
        ),
        (
            "iso-8859-6", "ISO-8859-6",
            "arabic asmo-708 csiso88596e csiso88596i csisolatinarabic ecma-114 iso-8859-6-e iso-8859-6-i "
                + "iso-ir-127 iso8859-6 iso88596 iso_8859-6 iso_8859-6:1987"
        ),
        (
            "iso-8859-7", "ISO-8859-7",
            "csisolatingreek ecma-118 elot_928 greek greek8 iso-ir-126 iso8859-7 iso88597 iso_8859-7 "
                + "iso_8859-7:1987 sun_eu_greek"
        ),
        (
            "iso-8859-8", "ISO-8859-8",
            "csiso88598e csisolatinhebrew hebrew iso-8859-8-e iso-ir-138 iso8859-8 iso88598 iso_8859-8 "
                + "iso_8859-8:1988 visual"
        ),
        ("iso-8859-8-i", "ISO-8859-8", "csiso88598i logical"),
        ("koi8-r", "KOI8-R", "cskoi8r koi koi8 koi8_r"),
        ("koi8-u", "KOI8-U", "koi8-ru"),
        ("macintosh", "MACINTOSH", "csmacintosh mac x-mac-roman"),
        ("replacement", "", "csiso2022kr hz-gb-2312 iso-2022-cn iso-2022-cn-ext iso-2022-kr"),
        ("shift_jis", "CP932", "csshiftjis ms932 ms_kanji shift-jis sjis windows-31j x-sjis"),
        ("utf-16be", "UTF-16BE", "unicodefffe"),
        ("utf-16le", "UTF-16LE", "csunicode iso-10646-ucs-2 ucs-2 unicode unicodefeff utf-16"),
        ("utf-8", "UTF-8", "unicode-1-1-utf-8 unicode11utf8 unicode20utf8 utf8 x-unicode20utf8"),
        ("windows-1250", "CP1250", "cp1250 x-cp1250"),
        ("windows-1251", "CP1251", "cp1251 x-cp1251"),
        (
            "windows-1252", "CP1252",
            "ansi_x3.4-1968 ascii cp1252 cp819 csisolatin1 ibm819 iso-8859-1 iso-ir-100 iso8859-1 iso88591 "
                + "iso_8859-1 iso_8859-1:1987 l1 latin1 us-ascii x-cp1252"
        ),
        ("windows-1253", "CP1253", "cp1253 x-cp1253"),
        (
            "windows-1254", "CP1254",
            "cp1254 csisolatin5 iso-8859-9 iso-ir-148 iso8859-9 iso88599 iso_8859-9 iso_8859-9:1989 l5 latin5 "
                + "x-cp1254"
        ),
        ("windows-1255", "CP1255", "cp1255 x-cp1255"),
        ("windows-1256", "CP1256", "cp1256 x-cp1256"),
        ("windows-1257", "CP1257", "cp1257 x-cp1257"),
        ("windows-1258", "CP1258", "cp1258 x-cp1258"),
        ("windows-874", "CP874", "dos-874 iso-8859-11 iso8859-11 iso885911 tis-620"),
        ("x-mac-cyrillic", "MAC-UK", "x-mac-ukrainian"),
        ("x-user-defined", "", ""),
    ]
}
