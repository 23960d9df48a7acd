// swift-tools-version:5.5
import PackageDescription

let package = Package(
    name: "nnrt",
    products: [.library(name: "CNnrt", targets: ["CNnrt"])],
    targets: [.target(name: "CNnrt", linkerSettings: [.linkedLibrary("m", .when(platforms: [.linux, .android]))])],
    cLanguageStandard: .c99
)
