/// Doubly linked lists whose nodes share one array, so that any node can be removed in constant time.
struct LinkedLists<Element> {
    /// One list: its ends and its number of nodes.
    struct List {
        fileprivate(set) var first: Int?
        fileprivate(set) var last: Int?
        fileprivate(set) var count = 0

        var isEmpty: Bool { count == 0 }
    }

    private struct Node {
        var element: Element?
        var previous: Int?
        var next: Int?
    }

    /// The nodes of all lists, including free ones.
    private var nodes: [Node] = []
    private var free: [Int] = []

    /// The number of nodes kept for reuse when all lists are empty.
    private static var mostKept: Int { 1024 }

    /// The element of a node, which must be in a list.
    subscript(node: Int) -> Element {
        guard let element = nodes[node].element else { fatalError("the node is in no list") }
        return element
    }

    func contains(_ node: Int) -> Bool { nodes.indices.contains(node) && nodes[node].element != nil }

    func next(after node: Int) -> Int? { nodes[node].next }

    /// Adds an element to a list.
    /// - Parameter next: the node that follows it; `nil` to add it at the end.
    /// - Returns: the node of the element, valid until it is removed.
    mutating func add(_ element: Element, to list: inout List, before next: Int? = nil) -> Int {
        let previous = if let next { nodes[next].previous } else { list.last }
        let new = Node(element: element, previous: previous, next: next)
        let node = free.popLast() ?? nodes.count
        if node == nodes.count { nodes.append(new) } else { nodes[node] = new }

        if let previous { nodes[previous].next = node } else { list.first = node }
        if let next { nodes[next].previous = node } else { list.last = node }
        list.count += 1
        return node
    }

    /// Removes a node from its list.
    @discardableResult
    mutating func remove(_ node: Int, from list: inout List) -> Element {
        let element = self[node]
        let (previous, next) = (nodes[node].previous, nodes[node].next)
        if let previous { nodes[previous].next = next } else { list.first = next }
        if let next { nodes[next].previous = previous } else { list.last = previous }
        list.count -= 1

        nodes[node] = Node()
        free.append(node)
        if free.count == nodes.count, nodes.count > Self.mostKept { (nodes, free) = ([], []) }
        return element
    }

    /// Moves the first node of a list to its end.
    mutating func rotate(_ list: inout List) {
        guard let first = list.first, let last = list.last, first != last else { return }
        list.first = nodes[first].next
        if let first = list.first { nodes[first].previous = nil }
        nodes[last].next = first
        nodes[first].previous = last
        nodes[first].next = nil
        list.last = first
    }
}
