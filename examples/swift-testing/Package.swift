// swift-tools-version: 6.2
// Tests that decide as the payer would, or let a persona do it. They need the three programs as they were built.
import PackageDescription

let package = Package(
    name: "payment-tests",
    dependencies: [
        // Of your own: .package(url: "…/oob-authenticator", from: "…")
        .package(name: "oob-authenticator", path: "../..")
    ],
    targets: [
        .testTarget(
            name: "PaymentTests", dependencies: [.product(name: "OOBTesting", package: "oob-authenticator")])
    ])
