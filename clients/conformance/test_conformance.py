"""The scenarios that both client packages must pass, beside three brokers that obey, a provider and a worker.

`make test-clients` runs them. Each scenario drives programs that use a package through the same calls, so there is one
definition of what is right.
"""

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from harness.processes import free_port
from programs import COMMANDS, OUTCOMES, UNREAD, Program, Service, header, new_id, position

HOLD_MS = 300  # long enough for another thread to overtake


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    logs: Path = tmp_path_factory.mktemp("logs")
    service = Service(os.environ["LOCSEARCH"], logs)
    try:
        yield service
    finally:
        service.end()


@pytest.fixture(params=COMMANDS)
def program(request: pytest.FixtureRequest, service: Service) -> Iterator[Callable[[], Program]]:
    """Starts programs that use one of the packages."""
    programs: list[Program] = []

    def start() -> Program:
        programs.append(Program(request.param, service))
        return programs[-1]

    yield start
    for each in programs:
        each.end()


def assert_read_once(program: Program, ends: dict[str, dict[int, int]]) -> None:
    """Nothing from before the connection was read, and nothing twice."""
    read = program.ask("observe")["read"]
    assert sorted(set(read)) == sorted(read)
    for topic, partition, offset in (each.rsplit("-", 2) for each in read):
        assert int(offset) >= ends[topic][int(partition)]


def outcome_ends(service: Service) -> dict[str, dict[int, int]]:
    return {topic: service.ends(topic) for topic in OUTCOMES}


def test_client_that_joins_again_reads_each_outcome_once(program: Callable[[], Program], service: Service) -> None:
    ends = outcome_ends(service)
    own = program().open()
    assert own.search()["ended"] == "completed"

    own.ask("rejoin")
    assert own.search()["ended"] == "completed"
    assert_read_once(own, ends)


def test_client_goes_on_when_leaders_change(program: Callable[[], Program], service: Service) -> None:
    ends = outcome_ends(service)
    own = program().open()
    assert own.search()["ended"] == "completed"

    service.move_leaders()
    assert own.search()["ended"] == "completed"
    assert_read_once(own, ends)


def test_request_sent_while_all_brokers_are_down_gets_its_outcome(
    program: Callable[[], Program], service: Service
) -> None:
    ends = outcome_ends(service)
    own = program().open()
    for number in (1, 2, 3):
        service.broker.tell(down=number)
    pending = own.send()
    time.sleep(1)  # how long the fault lasts
    for number in (1, 2, 3):
        service.broker.tell(up=number)

    assert pending.result(30)["ended"] == "completed"
    assert_read_once(own, ends)


def test_second_request_with_the_id_of_an_open_one_is_not_sent(
    program: Callable[[], Program], service: Service
) -> None:
    own, session, request_id = program().open(), new_id("session"), new_id("same")
    first = own.send(requestId=request_id, sessionId=session, keyword="fault:delay=1000")
    own.wait_for_sends(1)

    assert own.search(requestId=request_id, sessionId=session)["ended"] == "DuplicateRequest"
    assert first.result(30)["ended"] == "completed"
    assert len(service.records(session)) == 1


def test_programs_with_equal_ids_get_their_own_outcomes(program: Callable[[], Program], service: Service) -> None:
    """The first program's outcome comes last, so the second one's reaches it while it waits."""
    request_id = new_id("equal")
    first, second = program().open(source="/first"), program().open(source="/second")
    slow = first.send(requestId=request_id, keyword="fault:delay=1500")
    first.wait_for_sends(1)
    outcomes = {"/second": second.search(requestId=request_id), "/first": slow.result(30)}

    expected = {header(record, "ce_source"): position(record) for record in service.records(request_id)}
    assert {source: outcome.get("position") for source, outcome in outcomes.items()} == expected


def test_outcomes_before_the_delivery_report_wait_for_it(program: Callable[[], Program], service: Service) -> None:
    """Another program's outcome with the same id comes first."""
    request_id = new_id("early")
    own, other = program().open(source="/own", holdReportMs=2500), program().open(source="/other")
    pending = own.send(requestId=request_id, keyword="fault:delay=700")
    own.wait_for_sends(1)
    assert other.search(requestId=request_id)["ended"] == "completed"

    [record] = [each for each in service.records(request_id) if header(each, "ce_source") == "/own"]
    assert pending.result(30).get("position") == position(record)


def test_nothing_is_sent_after_close(program: Callable[[], Program], service: Service) -> None:
    """One record is being handed over, and a second one of its key waits behind it."""
    own, session = program().open(topics={"requests": UNREAD}, holdSendMs=HOLD_MS), new_id("session")
    details: dict[str, Any] = {"operation": "details", "placeId": "J000000000", "sessionId": session}
    sends = [own.send(**details)]
    own.wait_for_sends(1)
    sends.append(own.send(**details))
    own.ask("close")
    sends.append(own.send(**details))

    written = len(service.records(session, UNREAD))
    assert [each.result(30)["ended"] for each in sends] == ["ClientClosed"] * 3
    time.sleep(2 * HOLD_MS / 1000)
    assert len(service.records(session, UNREAD)) == written


def test_advice_to_wait_for_hours_is_returned(program: Callable[[], Program], service: Service) -> None:
    own = program().open()
    request = own.send(provider="google-places", keyword="fault:429=64800")
    outcome = request.result(30)
    assert outcome["ended"] == "failed", outcome
    advice = outcome["event"]["error"]["retryAfterMs"] / 1000
    sent = outcome["id"]

    assert advice > 300
    assert own.ask("delay", of=sent)["delay"] is None
    assert own.ask("delay", of=sent, maxDelay=advice)["delay"] is None
    assert own.ask("delay", of=sent, maxDelay=advice + 1)["delay"] >= advice


def test_of_two_callers_in_one_session_the_older_is_superseded(
    program: Callable[[], Program], service: Service
) -> None:
    """The older one is still being handed to the producer when the newer one is sent."""
    own, session = program().open(holdSendMs=HOLD_MS), new_id("session")
    older = own.send(requestId=new_id("older"), sessionId=session, keyword="fault:delay=500")
    own.wait_for_sends(1)
    newer = own.send(requestId=new_id("newer"), sessionId=session, keyword="fault:delay=700")

    assert older.result(30)["ended"] == "Superseded"
    assert newer.result(30)["ended"] == "completed"
    assert service.records(session)[-1].offset() == int(newer.result()["position"].rsplit("-", 1)[1])


def test_unreachable_broker_is_named(program: Callable[[], Program], service: Service) -> None:
    address = f"127.0.0.1:{free_port()}"
    answer = program().ask("open", servers=address, source="/conformance")

    assert answer["ended"] == "BrokersUnreachable", answer
    assert address in answer["message"]
    assert "check" in answer["message"]
