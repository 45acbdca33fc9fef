/// The optional libraries in this build. With `REPLAYHOST_PORTABLE=1`, as on iOS, there are none.
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

    /// Returns whether this build supports a query.
    static func haveWhatIsNeeded(for query: String) -> Bool {
        haveRE2 || !query.contains("filter=~") && !query.contains("filter=!~")
    }
}
