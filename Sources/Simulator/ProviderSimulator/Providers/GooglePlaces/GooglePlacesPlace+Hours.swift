internal import JSON

extension GooglePlacesPlace {
    /// Writes the regular and current opening hours, if the place has any.
    func writeHours(to json: inout JSONWriter) {
        guard let openNow = place.openNow, place.status != .closedForGood, !isFuture else { return }
        let hours = OpeningHours(place)
        json.object("regularOpeningHours") { json in
            json.member("openNow", openNow)
            writePeriods(of: hours, isCurrent: false, to: &json)
        }
        json.object("currentOpeningHours") { json in
            json.member("openNow", openNow)
            writePeriods(of: hours, isCurrent: true, to: &json)
            json.member(openNow ? "nextCloseTime" : "nextOpenTime", "2026-11-21T14:00:00Z")
        }
    }

    /// Writes the opening periods. A place that never closes has a regular period without `close`, and a current one
    /// that lasts seven whole days.
    private func writePeriods(of hours: OpeningHours, isCurrent: Bool, to json: inout JSONWriter) {
        json.objects("periods", of: hours.periods) { period, json in
            json.key("open")
            writePoint(period.open, isTruncated: isCurrent && hours.isAlwaysOpen, to: &json)
            let last = OpeningHours.Point(day: 6, hour: 23, minute: 59)
            if let close = period.close ?? (isCurrent ? last : nil) {
                json.key("close")
                writePoint(close, isTruncated: isCurrent && hours.isAlwaysOpen, to: &json)
            }
        }
        json.member("weekdayDescriptions", hours.weekdays)
    }

    private func writePoint(_ point: OpeningHours.Point, isTruncated: Bool, to json: inout JSONWriter) {
        json.beginObject()
        json.member("day", point.day)
        json.member("hour", point.hour)
        json.member("minute", point.minute)
        if isTruncated { json.member("truncated", true) }
        json.endObject()
    }
}
