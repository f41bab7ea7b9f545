import Glibc
import HTTPServing
import NIOCore

/// The reason why the sandbox cannot listen on an address.
package struct ListenError: Error, CustomStringConvertible {
    /// Whether another program has the address.
    package let isTaken: Bool
    package let description: String

    init(_ address: ListenAddress, _ error: IOError) {
        isTaken = error.errnoCode == EADDRINUSE
        description =
            switch error.errnoCode {
            case EADDRINUSE: "the address \(address.text) is in use by another program; choose another with --listen"
            case EADDRNOTAVAIL: "this host does not have the address \(address.text); choose another with --listen"
            case EACCES: "\(address.text): a port below 1024 takes a privilege; choose another with --listen"
            // glibc keeps the text per thread (strerror(3)), and it is copied at once.
            default: "cannot listen on \(address.text): \(unsafe String(cString: strerror(error.errnoCode)))"
            }
    }

    init(unknownHostOf address: ListenAddress) {
        isTaken = false
        description = "the host \(address.host) has no address here; choose another with --listen"
    }
}
