import Glibc

/// A port of the loopback on which nobody listens, and nobody else can while this lives.
final class ClosedPort: Sendable {
    struct Failure: Error { let errno: CInt }

    let number: Int
    private let descriptor: CInt

    init() throws {
        let descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
        self.descriptor = descriptor
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr = in_addr(s_addr: UInt32(0x7F00_0001).bigEndian)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                unsafe bind(descriptor, address, length) == 0 ? unsafe getsockname(descriptor, address, &length) : -1
            }
        }
        guard result == 0 else { throw Failure(errno: errno) }
        number = Int(UInt16(bigEndian: address.sin_port))
    }

    deinit { close(descriptor) }
}
