import Testing

@testable import locsearch

struct ProgramNameTests {
    @Test(arguments: [
        ("locsearch", "locsearch"), (".build/debug/locsearch", ".build/debug/locsearch"),
        ("/home/me/worker/.build/debug/locsearch", ".build/debug/locsearch"),
        ("/home/me/worker-2/.build/debug/locsearch", "/home/me/worker-2/.build/debug/locsearch"),
    ])
    func personTypesThePathFromTheirFolder(name: String, typed: String) {
        #expect(ProgramName.typed(as: name, in: "/home/me/worker") == typed)
    }
}
