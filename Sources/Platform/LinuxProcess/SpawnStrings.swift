import Glibc

/// The arguments and environment in the form of posix_spawn(3).
package enum SpawnStrings {
    package typealias Strings = [UnsafeMutablePointer<CChar>?]

    package static func with(
        _ arguments: [String], _ environment: [String], _ body: (inout Strings, inout Strings) -> Int32
    ) -> Int32 {
        var arguments = unsafe copied(arguments)
        var environment = unsafe copied(environment)
        defer { unsafe (arguments + environment).forEach { unsafe free($0) } }
        return unsafe body(&arguments, &environment)
    }

    /// Copies the texts, each of which the caller must free, and adds the null pointer that ends such a list.
    private static func copied(_ texts: [String]) -> Strings { unsafe texts.map { unsafe strdup($0) } + [nil] }
}
