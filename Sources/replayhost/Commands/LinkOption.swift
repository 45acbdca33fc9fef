import ArgumentParser

/// `--link` of `import` and `open`.
struct LinkOption: ParsableArguments {
    @Flag(name: .long, help: "Use files in place instead of copying them.")
    var link = false

    /// The former name of `--link` (0.1.0).
    @Flag(name: .long, help: .hidden)
    var reference = false

    var isGiven: Bool { link || reference }
}
