extension SearchRequest {
    /// The members that only some searches need.
    public var options: SearchOptions {
        get { optionsBox?.options ?? SearchOptions() }
        set { optionsBox = newValue == SearchOptions() ? nil : SearchOptions.Box(newValue) }
    }

    /// True if the request has any of `options`. Much cheaper than reading them.
    public var hasOptions: Bool { optionsBox != nil }

    /// The types of which each place must have one: `categories`, or else `category`. Never empty.
    public var wantedCategories: [String] { options.categories.isEmpty ? [category] : options.categories }
}
