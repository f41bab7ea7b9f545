import CCryptoki

/// The owner of attributes in the form that PKCS #11 requires, with a buffer for each.
@safe final class TokenTemplate {
    typealias Attribute = (type: CK_ATTRIBUTE_TYPE, bytes: [UInt8])

    /// The most bytes of an attribute that is read.
    static let maxBytes = 512

    let pointer: UnsafeMutablePointer<CK_ATTRIBUTE>
    let count: CK_ULONG
    private let buffers: [UnsafeMutableRawBufferPointer]

    init(_ attributes: [Attribute]) {
        unsafe pointer = .allocate(capacity: attributes.count)
        count = CK_ULONG(attributes.count)
        unsafe buffers = unsafe attributes.map { attribute in
            let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: attribute.bytes.count, alignment: 8)
            unsafe buffer.copyBytes(from: attribute.bytes)
            return unsafe buffer
        }
        for unsafe(index, buffer) in unsafe buffers.enumerated() {
            unsafe (pointer + index).initialize(
                to: CK_ATTRIBUTE(
                    type: attributes[index].type, pValue: buffer.baseAddress, ulValueLen: CK_ULONG(buffer.count)))
        }
    }

    deinit {
        unsafe pointer.deallocate()
        unsafe buffers.forEach { unsafe $0.deallocate() }
    }

    /// The bytes that a token has written over the first attribute.
    var firstValue: [UInt8] {
        unsafe Array(buffers[0].prefix(Int(clamping: pointer.pointee.ulValueLen)))
    }

    /// Returns the attributes that find the object of a class that a URI names.
    static func attributes(of objectClass: CK_OBJECT_CLASS, named name: TokenKeyName) -> [Attribute] {
        var wanted: [Attribute] = [(CKA_CLASS, bytes(objectClass))]
        if let label = name.label { wanted.append((CKA_LABEL, label)) }
        if let id = name.id { wanted.append((CKA_ID, id)) }
        return wanted
    }

    /// Returns a number in PKCS #11's form of an attribute.
    static func bytes(_ number: CK_ULONG) -> [UInt8] {
        unsafe withUnsafeBytes(of: number) { unsafe Array($0) }
    }
}
