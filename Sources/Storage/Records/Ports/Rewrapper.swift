/// Encrypts anew, under the present secret, what is still under the previous one; no PIN is needed.
///
/// Each thing is under one of the two, and both are tried, so that what was cut short is finished by doing it again.
package protocol Rewrapper: Sendable {
    /// An access token under the present secret; nil if it is already.
    func token(_ sealed: [UInt8], of name: EnrollmentID) throws -> [UInt8]?
    /// The key of a push subscription under the present secret; nil if it is already.
    func pushKey(_ sealed: [UInt8], of name: EnrollmentID) throws -> [UInt8]?
    /// The data key of an enrollment, under the present secret; nil if it is already.
    func dataKey(_ sealed: [UInt8], of name: EnrollmentID) throws -> [UInt8]?
    /// The key of an enrollment, under the present secret; nil if it is already.
    func key(_ sealed: [UInt8], of name: EnrollmentID) throws -> [UInt8]?
    /// The audit key under the present secret; nil if it is already.
    func auditKey(_ sealed: [UInt8]) throws -> [UInt8]?
    /// The key under which rows stand in sums, under the present secret; nil if it is already.
    func rowKey(_ sealed: [UInt8]) throws -> [UInt8]?
}
