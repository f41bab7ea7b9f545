import Control
import Testing

struct CommandReadingTests {
    @Test func `a decision reads what a client wrote`() throws {
        var command = DecideCommand()
        command.enrollment = "e1"
        command.wait = 30
        command.expectAmount = "USD 1.00"
        command.expectMerchant = "CoffeeHouse2 (Dæmø)"
        command.expectAcsTransId = "2f37539c-d82e-4929-88db-2f9e72c7fa62"
        command.reason = .suspectedFraud
        command.deliveryTimeout = 0
        command.shownTextDigest = "47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU"
        command.expectShownText = true
        command.decideBefore = 1_700_000_000
        #expect(try ControlJSON.decode(try ControlJSON.encode(command), as: DecideCommand.self) == command)
    }

    @Test func `the other commands read what a client wrote`() throws {
        let enroll = EnrollCommand(
            issuer: "https://issuer.example", code: "7QK4-M2XD", authnType: "test", name: "lab", caFile: "PEM\n")
        #expect(try ControlJSON.decode(try ControlJSON.encode(enroll), as: EnrollCommand.self) == enroll)
        let unenroll = UnenrollCommand(local: true, force: false)
        #expect(try ControlJSON.decode(try ControlJSON.encode(unenroll), as: UnenrollCommand.self) == unenroll)
        let fetch = FetchCommand(enrollment: "e1")
        #expect(try ControlJSON.decode(try ControlJSON.encode(fetch), as: FetchCommand.self) == fetch)
    }

    @Test func `what has a PIN reads what a client wrote`() throws {
        var decide = DecideCommand()
        decide.pin = PINText("7362-Dæmø")
        #expect(try ControlJSON.decode(try ControlJSON.encode(decide), as: DecideCommand.self) == decide)
        let enroll = EnrollCommand(
            issuer: "https://issuer.example", code: "7QK4-M2XD", authnType: "pin", pin: PINText("736251"))
        #expect(try ControlJSON.decode(try ControlJSON.encode(enroll), as: EnrollCommand.self) == enroll)
        let change = PINChangeCommand(pin: PINText(#"a "b\c""#), newPin: PINText("736251"))
        #expect(try ControlJSON.decode(try ControlJSON.encode(change), as: PINChangeCommand.self) == change)
    }

    @Test(arguments: [#"{"pin":"736251"}"#, #"{"newPin":"736251"}"#, #"{"pin":"736251","newPin":736251}"#, "{}"])
    func `a change of a PIN takes both, and its error repeats neither`(body: String) {
        let error = #expect(throws: ControlError.self) {
            try ControlJSON.decode(Array(body.utf8), as: PINChangeCommand.self)
        }
        #expect(error?.token == .invalidArgument && error?.message.contains("736251") == false)
    }

    @Test func `a PIN that is far too long is refused and not repeated`() {
        let body = "{\"pin\":\"\(String(repeating: "7362", count: 129))\"}"
        let error = #expect(throws: ControlError.self) {
            try ControlJSON.decode(Array(body.utf8), as: DecideCommand.self)
        }
        #expect(error?.message.contains("/pin") == true && error?.message.contains("7362") == false)
    }

    @Test func `no text shows a PIN, nor a command that has one`() {
        let pin = PINText("736251")
        let change = PINChangeCommand(pin: pin, newPin: pin)
        var decide = DecideCommand()
        decide.pin = pin
        for value: Any in [pin, change, [change], decide] {
            var dumped = ""
            dump(value, to: &dumped)
            for text in ["\(value)", String(reflecting: value), dumped] { #expect(!text.contains("736251")) }
        }
    }

    @Test(arguments: ["", "{}"])
    func `an empty body asks for nothing special`(body: String) throws {
        #expect(try ControlJSON.decode(Array(body.utf8), as: DecideCommand.self) == DecideCommand())
    }

    @Test(arguments: [
        (#"{"wait":3601}"#, "/wait"), (#"{"wait":-1}"#, "/wait"), (#"{"wait":1.0}"#, "/wait"),
        (#"{"wait":"1"}"#, "/wait"), (#"{"deliveryTimeout":601}"#, "/deliveryTimeout"),
        (#"{"wait":1,"wait":1}"#, "/wait"), (#"{"pin":1234}"#, "/pin"), (#"{"Wait":1}"#, "/Wait"),
        (#"{"enrollment":""}"#, "/enrollment"), (#"{"expectMerchant":""}"#, "/expectMerchant"),
        (#"{"expectAmount":"1.00"}"#, "/expectAmount"), (#"{"expectAmount":"USD 1"}"#, "/expectAmount"),
        (#"{"expectAcsTransId":"2f37539c"}"#, "/expectAcsTransId"), (#"{"reason":"duplicate"}"#, "/reason"),
        (#"{"shownTextDigest":"AA"}"#, "/shownTextDigest"), (#"{"decideBefore":-1}"#, "/decideBefore"),
        (#"{"decideBefore":253402300800}"#, "/decideBefore"),
        (#"{"decideBefore":9223372036854775807}"#, "/decideBefore"),
    ])
    func `a member that is not in order is refused and named`(body: String, path: String) {
        let error = #expect(throws: ControlError.self) {
            try ControlJSON.decode(Array(body.utf8), as: DecideCommand.self)
        }
        #expect(error?.token == .invalidArgument)
        #expect(error?.message.contains(path) == true)
    }

    @Test(arguments: ["[]", "null", "{", "{}x", "\u{FEFF}{}"])
    func `a body that is no JSON object is refused`(body: String) {
        let error = #expect(throws: ControlError.self) {
            try ControlJSON.decode(Array(body.utf8), as: FetchCommand.self)
        }
        #expect(error?.token == .invalidArgument)
    }

    @Test(arguments: [3_600, 0]) func `the bounds of a wait are allowed`(seconds: Int) throws {
        let body = Array("{\"wait\":\(seconds)}".utf8)
        #expect(try ControlJSON.decode(body, as: DecideCommand.self).wait == seconds)
    }

    @Test func `a body of 65,536 bytes is read and one more is not`() throws {
        let limit = body(bytes: 65_536)
        #expect(try ControlJSON.decode(limit, as: FetchCommand.self) == FetchCommand())
        #expect(throws: ControlError.self) {
            try ControlJSON.decode(body(bytes: 65_537), as: FetchCommand.self)
        }
    }

    @Test func `roots at their bound fit into a body, and one byte more is refused`() throws {
        let limit = EnrollCommand(issuer: "https://i.example", code: "c", caFile: pem(EnrollCommand.maxCAFileBytes))
        #expect(try ControlJSON.decode(try ControlJSON.encode(limit), as: EnrollCommand.self) == limit)
        let over = EnrollCommand(issuer: "https://i.example", code: "c", caFile: pem(EnrollCommand.maxCAFileBytes + 1))
        #expect(throws: ControlError.self) {
            try ControlJSON.decode(try ControlJSON.encode(over), as: EnrollCommand.self)
        }
    }

    @Test(arguments: [#"{"issuer":"https://i.example"}"#, #"{"code":"c"}"#, #"{"issuer":"","code":"c"}"#])
    func `an enrollment needs issuer and code`(body: String) {
        #expect(throws: ControlError.self) { try ControlJSON.decode(Array(body.utf8), as: EnrollCommand.self) }
    }

    private func body(bytes: Int) -> [UInt8] {
        [UInt8(ascii: "{")] + Array(repeating: UInt8(ascii: " "), count: bytes - 2) + [UInt8(ascii: "}")]
    }

    /// Lines of 64 characters, as PEM has them.
    private func pem(_ bytes: Int) -> String {
        let line = String(repeating: "A", count: 64) + "\n"
        return String(String(repeating: line, count: bytes / 65 + 1).prefix(bytes))
    }
}
