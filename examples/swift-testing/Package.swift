// swift-tools-version: 6.2
// Tests that decide as the payer would. It needs Foundation, Swift Testing, and the three programs as they were built.
import PackageDescription

let package = Package(
    name: "payment-tests",
    targets: [
        .testTarget(name: "PaymentTests")
    ])
