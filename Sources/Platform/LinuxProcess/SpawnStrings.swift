import Glibc

/// Arguments and environment as posix_spawn(3) takes them.
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

    /// Each to be freed; with the null that ends such a list.
    private static func copied(_ texts: [String]) -> Strings { unsafe texts.map { unsafe strdup($0) } + [nil] }
}
