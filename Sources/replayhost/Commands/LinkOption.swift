import ArgumentParser

/// `--link` of `import` and `open`.
struct LinkOption: ParsableArguments {
    @Flag(name: .long, help: "Link each file where it is instead of copying it.")
    var link = false

    /// The name of `--link` in version 0.1.0.
    @Flag(name: .long, help: .hidden)
    var reference = false

    var isGiven: Bool { link || reference }
}
