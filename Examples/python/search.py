"""Sends a search and prints what came of it, with the client package.

KAFKA_BOOTSTRAP_SERVERS=localhost:9092 python Examples/python/search.py
"""

import os
import sys

from location_search_client import Completed, SearchClient

SHINJUKU = {"latitude": 35.690921, "longitude": 139.700258}


def main() -> int:
    servers = os.environ.get("KAFKA_BOOTSTRAP_SERVERS", "localhost:9092")
    with SearchClient(servers, source="/examples/python") as client:
        # The priority counts where the topic has requests of several classes, and is ignored elsewhere.
        outcome = client.search({"sessionId": "a-session", "location": SHINJUKU, "priority": "interactive"}, within=30)

    if not isinstance(outcome, Completed) or outcome.event["operation"] != "search":
        print(outcome.event)
        return 1
    for place in outcome.event["places"]:
        print(place["name"], place.get("address", ""))
    print(len(outcome.event["places"]), "places from", outcome.event["provider"])
    return 0


if __name__ == "__main__":
    sys.exit(main())
