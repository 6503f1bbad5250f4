internal import EventContract
internal import JSON
internal import LocationSearch
internal import SessionState

/// The state of a session in the form for the page. Unknown values are left out.
enum SessionJSON {
    /// Times as ages, because the clock of a page may be wrong.
    struct Ages {
        let now: WallTime
        /// Returns how long an outcome of a request is wanted, by the request's id; `nil` if unknown.
        let expiry: (String) -> Duration?

        func age(of time: WallTime) -> Duration { max(.zero, now.duration(since: time)) }

        /// Returns the remaining time of a request.
        func rest(of requestID: String, sentAt: WallTime) -> Duration? {
            expiry(requestID).map { max(.zero, $0 - age(of: sentAt)) }
        }
    }

    /// - Parameter terms: the terms that decide which content of places is written.
    static func state(_ state: SessionState, sessionID: String, ages: Ages, terms: ContentTerms) -> [UInt8] {
        JSONWriter.object(capacity: 16384) { json in
            json.member("session", sessionID)
            json.member("revision", state.revision)
            if let search = state.search { write(search, to: &json) }

            json.objects("inFlight", of: state.inFlight) { request, json in write(request, ages, to: &json) }

            if let list = state.list { write(list, terms, to: &json) }
            if let selected = state.selected { write(selected, terms, to: &json) }
            if let error = state.error { write(error, to: &json) }
        }
    }

    private static func write(_ search: SessionState.Search, to json: inout JSONWriter) {
        json.object("search") { json in
            json.member("requestId", search.requestID)
            json.member("status", text(search.status))
            json.member("category", search.category)
            if let location = search.location { json.member("location", location) }
            json.member("radiusMeters", search.radiusMeters)
            if let request = search.request {
                json.member("provider", request.provider.named?.rawValue ?? "auto")
                json.member("keyword", request.keyword)
                json.member("language", request.language)
                json.member("openNow", request.openNow)
                json.member("categories", request.options.categories)
                json.member("excludeCategories", request.options.excludedCategories)
                json.member("rankBy", request.options.ranking?.rawValue)
            }
        }
    }

    private static func text(_ status: SessionState.Search.Status) -> String {
        switch status {
        case .inFlight: "in-flight"
        case .completed: "completed"
        case .failed: "failed"
        }
    }

    private static func write(_ pending: SessionState.PendingRequest, _ ages: Ages, to json: inout JSONWriter) {
        json.member("requestId", pending.requestID)
        json.member("operation", pending.operation.rawValue)
        json.member("ageMs", ages.age(of: pending.sentAt).milliseconds(roundedUp: false))
        let rest = ages.rest(of: pending.requestID, sentAt: pending.sentAt)
        json.member("expiresInMs", rest?.milliseconds(roundedUp: true))
    }

    private static func write(_ list: SessionState.PlaceList, _ terms: ContentTerms, to json: inout JSONWriter) {
        json.object("list") { json in
            json.member("requestId", list.requestID)
            json.member("isSuperseded", list.isSuperseded)
            json.member("provider", list.provider)
            json.member("totalAvailable", list.totalAvailable)
            json.member("nextPageToken", list.nextPageToken)
            json.member("attributions", terms.allowed(list.attributions, of: list.provider.flatMap(ProviderID.init)))
            if let search = list.search {
                json.key("search")
                json.value(search)
            }
            json.key("places")
            json.value(terms.allowed(list.places))
        }
    }

    private static func write(_ selected: SessionState.Selection, _ terms: ContentTerms, to json: inout JSONWriter) {
        json.object("selected") { json in
            json.member("id", selected.id)
            json.member("provider", selected.provider?.rawValue)
            json.member("isLoading", selected.isLoading)
            json.member("hasDetails", selected.hasDetails)
            json.member("imageURL", terms.restricts(selected.provider) ? nil : selected.imageURL)
            json.member("attributions", terms.allowed(selected.attributions, of: selected.provider))
            // At most one place, in the form of a list.
            json.key("places")
            json.value(Places(selected.place.map { [terms.allowed($0)] } ?? []))
        }
    }

    private static func write(_ error: SessionState.Failure, to json: inout JSONWriter) {
        json.object("error") { json in
            json.member("requestId", error.requestID)
            json.member("operation", error.operation?.rawValue)
            json.member("code", error.code)
            json.member("message", error.message)
            json.member("retryable", error.isRetryable)
            json.member("retryAfterMs", error.retryAfter?.milliseconds(roundedUp: true))
            json.member("member", error.member)
            json.member("remedy", error.remedy.rawValue)
        }
    }
}
