/* RE2's own header is C++, which only Sources/CRE2 speaks; this module is there for its linker flags. */
