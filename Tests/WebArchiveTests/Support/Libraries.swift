/// Which libraries this build has: with `REPLAYHOST_PORTABLE=1`, as on iOS, none of them.
enum Libraries {
    static var haveLibzip: Bool {
        #if WITH_LIBZIP
        true
        #else
        false
        #endif
    }

    static var haveBrotliAndZstd: Bool {
        #if WITH_BROTLI && WITH_ZSTD
        true
        #else
        false
        #endif
    }

    static var haveRE2: Bool {
        #if WITH_RE2
        true
        #else
        false
        #endif
    }

    /// Whether a query of an index can be answered.
    static func haveWhatIsNeeded(for query: String) -> Bool {
        haveRE2 || !query.contains("filter=~") && !query.contains("filter=!~")
    }
}
